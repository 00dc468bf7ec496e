"""Opening pages in a real browser with the network cut, and reading off what a visitor sees."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from absent import absent

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# the sandbox cannot start as root, as in most containers; the rest keeps the browser itself from calling home
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
DISLIKE_WEIGHT = -0.5


def find_browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    return found or absent(
        f"no browser: none of {', '.join(BROWSERS)} is installed (Debian: apt-get install chromium)"
    )


@dataclass
class Visit:
    """A page in a browser; what it complained of, and every address it asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expect_complaints: bool = False

    def open(self, file: Path) -> Visit:
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        return self

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector("html[data-ready]")

    def ids(self, within: str = "#items") -> list[Any]:
        """Ids of a list, top first."""
        values = self.page.eval_on_selector_all(f"{within} .row", "rows => rows.map(row => row.dataset.id)")
        return [json.loads(value) for value in values]

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def focused(self) -> str:
        """The id, or the label or text, of what has the focus."""
        return self.page.evaluate(
            "() => { const e = document.activeElement; return e.id || e.ariaLabel || e.textContent }"
        )

    def press(self, action: str, place: int) -> Any:
        """Press a button of a row of the main list and wait until the list has answered; returns the row's id."""
        item = self.ids()[place]
        self.page.locator(f"#items [data-action={action}]").nth(place).click()
        self.settled()
        return item

    def settled(self) -> None:
        """Wait until no part of the page waits for an answer; a part says so as soon as it has asked."""
        self.page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")

    def search(self, text: str) -> None:
        self.page.fill("#search", text)
        self.settled()

    def stored(self) -> dict[str, str]:
        return json.loads(self.page.evaluate("() => JSON.stringify({ ...localStorage })"))


def watch(page: Any) -> Visit:
    """Listen to a page; connections to anything but the file itself and its own worker are cut and recorded."""
    visit = Visit(page)
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            visit.complaints.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("request", lambda request: visit.requests.append(request.url))
    page.on("websocket", lambda socket: visit.requests.append(socket.url))
    page.context.route(re.compile(r"^(https?|wss?|ftp):"), lambda route: route.abort())
    return visit


def check_quiet(visit: Visit) -> None:
    """Nothing left the page, and nothing went wrong in it."""
    outside = [url for url in visit.requests if not url.startswith(("file:", "blob:", "data:"))]
    assert not outside, f"the page asked for {outside}"
    assert visit.expect_complaints or not visit.complaints, visit.complaints
