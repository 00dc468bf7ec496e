"""What a package says of itself: one version, one licence, a page whose links work anywhere."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import sparserec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from hatch_build import package_page  # noqa: E402  (a file of the root, which is not on the path)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NPM = json.loads((ROOT / "js" / "package.json").read_text(encoding="utf-8"))
README = """![a figure](docs/a.png)
<img src="docs/b.png" width="2" alt="b">
[guide](docs/guide.md#top), [paper](https://example.org/p), [below](#below)
"""


def test_one_version_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M)[1] == sparserec.__version__ == NPM["version"]  # type: ignore[index]


def test_one_licence_and_one_address() -> None:
    assert NPM["license"] == PROJECT["license"]
    assert (ROOT / "js" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    address = PROJECT["urls"].get("Repository")
    assert NPM.get("repository") == (
        address and {"type": "git", "url": f"git+{address}.git", "directory": "js"}
    )


def test_without_an_address_the_page_has_words_and_no_dead_link() -> None:
    assert package_page(README, None) == "guide, [paper](https://example.org/p), [below](#below)\n"


def test_with_an_address_links_and_pictures_lead_there() -> None:
    page = package_page(README, "https://example.org/r")
    assert "![a figure](https://example.org/r/raw/main/docs/a.png)\n" in page
    assert '<img src="https://example.org/r/raw/main/docs/b.png" width="2" alt="b">\n' in page
    assert (
        "[guide](https://example.org/r/blob/main/docs/guide.md#top), [paper](https://example.org/p)" in page
    )


def test_everything_that_is_asked_for_is_pinned() -> None:
    """`make setup` gives everybody the same versions."""
    pins = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().split()}
    wanted = [
        *PROJECT["dependencies"],
        *(one for many in PROJECT["optional-dependencies"].values() for one in many),
    ]
    names = {re.split(r"[><=\[; ]", line)[0].lower() for line in wanted} - {"sparserec"}
    assert names <= pins, f"not in constraints.txt: {sorted(names - pins)}"
