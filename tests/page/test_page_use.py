"""The page in use: keyboard, phone, dark, policy, and what happens when something is missing or broken."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from page_driver import Visit, check_quiet

Start = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
SMALL_TARGETS = """() => [...document.querySelectorAll('button, a, input, summary')].filter(e => e.checkVisibility())
  .map(e => ({ e, box: e.getBoundingClientRect(), after: getComputedStyle(e, '::after') }))
  .map(({ e, box, after }) => ({ name: e.id || e.ariaLabel || e.textContent, width: Math.max(box.width, parseFloat(after.width) || 0), height: Math.max(box.height, parseFloat(after.height) || 0) }))
  .filter(({ width, height }) => width < 43.5 || height < 43.5)"""
CONTRASTS = """() => {
  const channel = value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4
  const brightness = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(value => channel(value / 255))
    return .2126 * r + .7152 * g + .0722 * b
  }
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== 'rgba(0, 0, 0, 0)') return c } return 'rgb(255, 255, 255)' }
  return [...document.querySelectorAll('h1, h2, h3, p, button, li, td, th, dt, dd, strong, kbd, .badge, .tile')].filter(e => e.checkVisibility() && e.innerText.trim())
    .map(e => { const [a, b] = [brightness(getComputedStyle(e).color), brightness(ground(e))]; return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.className || e.tagName] })
    .sort((a, b) => a[0] - b[0])[0]
}"""


def test_keyboard_alone(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    keys = seen.page.keyboard
    keys.press("/")
    assert seen.focused() == "search"
    keys.type("cafe")
    seen.settled()
    first, second = seen.page.locator("#items .title").all_text_contents()[:2]
    keys.press("ArrowDown")
    assert seen.focused() == first
    keys.press("ArrowDown")
    assert seen.focused() == second
    keys.press("l")
    seen.settled()
    assert seen.page.locator("#liked .title").all_text_contents() == [second]
    keys.press("Enter")
    seen.page.wait_for_selector("#item[open]")
    assert seen.focused() == "item-title"
    keys.press("Escape")
    assert seen.focused() == second, "closing gives the focus back"
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    assert seen.focused() == "search"
    keys.press("Escape")
    seen.settled()
    assert seen.page.input_value("#search") == "" and seen.text("#heading") == "For you"


def test_focus_stays_at_its_place_when_a_row_goes(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.page.locator("#items .like").nth(3).focus()
    seen.page.keyboard.press("Enter")
    seen.settled()
    titles = seen.page.locator("#items .title").all_inner_texts()
    assert seen.focused() == f"Like: {titles[3]}"
    seen.page.keyboard.press("d")
    seen.settled()
    assert titles[3] in seen.text("#disliked")
    seen.page.locator("#choices [data-action=forget]").first.focus()
    seen.page.keyboard.press("Enter")
    seen.settled()
    assert seen.focused() == f"Forget {titles[3]}"


def test_every_control_is_reached_by_tab_and_named(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.press("like", 0)
    wanted = seen.page.evaluate(
        "() => [...document.querySelectorAll('button, a, input')].filter(e => e.checkVisibility()).length"
    )
    names = set()
    for _ in range(wanted + 2):  # from the row that was pressed to the end, and round from the top
        seen.page.keyboard.press("Tab")
        if seen.page.evaluate("() => document.activeElement === document.body"):
            continue
        names.add(seen.focused())
        outline = seen.page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement); const p = "
            "getComputedStyle(document.activeElement.parentElement); return s.outlineStyle + p.boxShadow }"
        )
        assert "solid" in outline or "2px" in outline, f"no visible focus on {seen.focused()}"
    assert {"search", "open-about", "more", "erase", "undo"} <= names
    assert "" not in names


def test_updates_are_announced(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    title = seen.page.locator("#items .title").first.inner_text()
    seen.press("like", 0)
    assert seen.page.get_attribute("#status", "aria-live") == "polite"
    seen.page.wait_for_function(
        "words => document.getElementById('status').textContent === words",
        arg=f"Liked {title}. Suggestions updated.",
    )


BROKEN_NUMBERS = """() => [...document.querySelectorAll('.facts strong')]
    .filter(one => one.scrollWidth > one.clientWidth || one.offsetHeight > 1.9 * parseFloat(getComputedStyle(one).fontSize))
    .map(one => one.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_fits_and_can_be_read(visit: Start, page_file: Path, scheme: str) -> None:
    seen = visit(color_scheme=scheme, **PHONE).open(page_file)

    def check(place: str) -> None:
        width = seen.page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 360, f"{place} scrolls sideways: {width}"
        small = seen.page.evaluate(SMALL_TARGETS)
        assert not small, f"{place}: too small to touch: {small}"
        contrast, name = seen.page.evaluate(CONTRASTS)
        assert contrast >= 4.5, f"{place}: contrast {contrast:.2f} of {name}"

    check("start")
    seen.press("like", 0)
    seen.press("dislike", 1)
    for chip in (0, 1):
        seen.page.locator("#tags .chip").nth(chip).click()
    seen.settled()
    check("list")
    seen.search("cafe")
    check("search")
    seen.page.locator("#items .title").first.click()
    seen.settled()
    check("item")
    seen.page.keyboard.press("Escape")
    seen.page.click("#open-about")
    seen.page.wait_for_selector("#about[open]")
    check("about")
    seen.page.click("#about summary")
    check("technical details")
    broken = seen.page.evaluate(BROKEN_NUMBERS)
    assert not broken, f"numbers on several lines or cut off: {broken}"
    red, green, blue = map(
        int,
        re.findall(
            r"\d+", seen.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        ),
    )
    assert (max(red, green, blue) < 60) == (scheme == "dark")


def test_about_says_size_quality_data_and_tests_itself(
    visit: Start, page_file: Path, model_file: Path
) -> None:
    seen = visit().open(page_file)
    seen.page.click("#open-about")
    seen.page.wait_for_selector("#about[open]")
    words = seen.text("#about").replace("\u00a0", " ")
    assert "LightGCN" not in words and "Self-test" not in words, "technical tables are behind one link"
    seen.page.click("#about summary")
    words = seen.text("#about").replace("\u00a0", " ")
    assert f"{model_file.stat().st_size / 1000:.0f} KB" in words
    assert "25 % is among its first 20 suggestions" in words
    assert "No interaction list" in words and "LightGCN" in words
    assert "Self-test passed: 8 questions" in words


def test_works_without_a_worker(visit: Start, page_file: Path) -> None:
    normal = visit().open(page_file)
    normal.press("like", 2)
    for trouble in (
        "window.Worker = undefined",
        "window.Worker = class { constructor() { throw new Error('refused') } }",
    ):
        seen = visit()
        seen.page.add_init_script(trouble)
        seen.open(page_file)
        seen.press("like", 2)
        assert seen.ids() == normal.ids()
        assert len(normal.page.workers) == 1 and seen.page.workers == []


def test_the_watch_notices_a_page_that_calls_out(visit: Start, tmp_path: Path) -> None:
    """Without this the other tests could pass because nobody looks."""
    (tmp_path / "leak.html").write_text("<img src='https://example.com/a.png'>")
    seen = visit()
    seen.page.goto((tmp_path / "leak.html").as_uri())
    with pytest.raises(AssertionError, match=r"example\.com"):
        check_quiet(seen)
    seen.requests.clear()
    seen.complaints.clear()


def test_policy_forbids_connections_and_foreign_code(visit: Start, page_file: Path) -> None:
    seen = visit()
    seen.expect_complaints = True
    reasons: list[str] = []
    seen.page.on("requestfailed", lambda request: reasons.append(request.failure))
    seen.open(page_file)
    outcome = seen.page.evaluate(
        """async () => {
          const blocked = []
          document.addEventListener('securitypolicyviolation', event => blocked.push(event.effectiveDirective))
          const failed = await fetch('https://example.com/').then(() => 'sent', () => 'refused')
          new Image().src = 'https://example.com/a.png'
          const script = document.createElement('script')
          script.textContent = 'window.foreign = 1'
          document.body.append(script)
          await new Promise(done => setTimeout(done, 100))
          return [failed, blocked.sort(), window.foreign ?? null]
        }"""
    )
    assert outcome == ["refused", ["connect-src", "img-src", "script-src-elem"], None]
    assert reasons and set(reasons) == {"csp"}, "refused by the page itself, before the network is asked"
    seen.requests.clear()


def test_titles_are_text_never_markup(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.search("bold sons")
    assert seen.page.locator("#items .title").first.inner_text() == "<b>Bold</b> & </script> Sons"
    assert seen.page.locator("#items b").count() == 0


def test_a_damaged_page_says_so(visit: Start, page_file: Path, tmp_path: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    start = text.index('base64">') + 5000
    damaged = tmp_path / "damaged.html"
    damaged.write_text(
        text[:start] + ("A" if text[start] != "A" else "B") + text[start + 1 :], encoding="utf-8"
    )
    seen = visit()
    seen.page.goto(damaged.as_uri())
    seen.page.wait_for_selector("#empty:not([hidden])")
    assert "cannot be opened" in seen.text("#heading")
    assert re.search(r"WrongChecksum|Header", seen.text("#empty"))
