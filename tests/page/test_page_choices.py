"""What the page remembers, where, and how it forgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from page_driver import Visit

Start = Callable[..., Visit]
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('blocked', 'SecurityError') } })"
FULL_STORAGE = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"


def test_nothing_is_stored_before_a_choice(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.search("cafe")
    seen.page.click("#clear")
    seen.page.locator("#tags .chip").first.click()
    seen.settled()
    assert seen.stored() == {}
    assert seen.page.locator("#erase").is_hidden()
    assert seen.page.context.cookies() == []


def test_choices_last_over_a_reload_until_erased(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    popular = seen.ids()
    liked, disliked = seen.press("like", 1), seen.press("dislike", 3)
    ((key, kept),) = seen.stored().items()
    assert json.loads(kept) == [[liked, 1], [disliked, -1]]
    mine = seen.ids()
    seen.reload()
    assert seen.ids() == mine
    assert seen.page.locator("#liked li").count() == seen.page.locator("#disliked li").count() == 1
    seen.page.click("#erase")
    seen.page.click("#confirm button[value=keep]")
    assert seen.stored() == {key: kept}
    seen.page.click("#erase")
    seen.page.click("#erase-now")
    seen.page.wait_for_function("() => localStorage.length === 0")  # the dialog closes a moment later
    seen.settled()
    assert seen.stored() == {}
    assert seen.ids() == popular
    assert seen.page.locator("#choices li").count() == 0
    seen.page.wait_for_function(
        "() => document.getElementById('status').textContent === 'Everything is erased.'"
    )
    seen.reload()
    assert seen.ids() == popular


def test_erasing_forgets_search_filter_and_undo(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    popular = seen.ids()
    seen.press("like", 0)
    seen.page.locator("#tags .chip").first.click()
    seen.search("cafe")
    seen.page.click("#erase")
    seen.page.click("#erase-now")
    seen.page.wait_for_function("() => document.querySelectorAll('#liked li').length === 0")
    seen.settled()
    assert seen.ids() == popular
    assert seen.page.input_value("#search") == ""
    assert seen.page.locator("[aria-pressed=true][data-tag]").count() == 0
    assert seen.page.locator("#toast").is_hidden()


def test_undo_and_forget(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    popular = seen.ids()
    first = seen.press("like", 0)
    after_first = seen.ids()
    seen.press("dislike", 2)
    seen.page.click("#undo")
    seen.settled()
    assert seen.ids() == after_first
    seen.page.locator("#liked [data-action=forget]").click()
    seen.settled()
    assert seen.ids() == popular and first in popular
    assert seen.stored() == {}, "an empty profile leaves no trace"


def test_a_choice_in_search_and_sheet_can_be_taken_back(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.search("cafe")
    seen.press("like", 0)
    assert seen.page.locator("#items .like").first.get_attribute("aria-pressed") == "true"
    seen.press("like", 0)
    assert seen.page.locator("#items .like").first.get_attribute("aria-pressed") == "false"
    seen.page.locator("#items .title").first.click()
    seen.settled()
    seen.page.click("#item .actions .like")
    seen.settled()
    assert seen.page.locator("#liked li").count() == 1
    assert seen.page.locator("#item .actions .like").get_attribute("aria-pressed") == "true"


def test_works_where_storage_is_blocked_or_full(visit: Start, page_file: Path) -> None:
    for trouble in (NO_STORAGE, FULL_STORAGE):
        seen = visit()
        seen.page.add_init_script(trouble)
        seen.open(page_file)
        popular = seen.ids()
        seen.press("like", 0)
        assert seen.ids() != popular
        assert "does not let the page keep anything" in seen.text("#kept")
        seen.page.click("#erase")
        seen.page.click("#erase-now")
        seen.page.wait_for_function("() => document.querySelectorAll('#liked li').length === 0")
        seen.settled()
        assert seen.ids() == popular


def test_ignores_storage_that_something_else_wrote(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    popular = seen.ids()
    seen.press("like", 0)
    (key,) = seen.stored()
    for garbage in ("{", '{"a": 1}', "7", '[["p0001", 5], [null, 1], 3]', "null"):
        seen.page.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, garbage])
        seen.reload()
        assert seen.ids() == popular


def test_erasing_in_one_tab_reaches_the_other(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    other = Visit(seen.page.context.new_page()).open(page_file)
    seen.press("like", 0)
    other.page.wait_for_function("() => document.querySelectorAll('#liked li').length === 1")
    seen.page.click("#erase")
    seen.page.click("#erase-now")
    other.page.wait_for_function("() => document.querySelectorAll('#liked li').length === 0")
