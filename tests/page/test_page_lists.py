"""What the page shows equals what the Python reader answers: lists, reasons, filters, neighbours, search."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from page_driver import DISLIKE_WEIGHT, Visit

from sparserec.device import Model, load
from sparserec.export.page import write_page

Start = Callable[..., Visit]
GOLDEN = Path(__file__).parents[2] / "conformance" / "v1" / "golden"


def ids(found: list) -> list:
    return [one.id for one in found]


def test_starts_with_popular_items_offline(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    assert seen.ids() == ids(model.recommend(history=[], k=20))
    assert seen.text("#heading") == "Popular to start with"
    assert seen.text("h1") == "Places to go"
    assert len(seen.page.workers) == 1, "scoring does not run in the thread that draws"


def test_each_choice_gives_the_list_of_the_python_reader(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    history, weights, lists = [], [], [seen.ids()]
    for action, place in (("like", 0), ("like", 4), ("dislike", 2), ("like", 19), ("dislike", 0)):
        history.append(seen.press(action, place))
        weights.append(1.0 if action == "like" else DISLIKE_WEIGHT)
        expected = ids(model.recommend(history=history, weights=weights, k=20))
        assert seen.ids() == expected
        assert expected not in lists, "a choice that changes nothing proves nothing"
        lists.append(expected)
    assert seen.text("#heading") == "For you"
    seen.page.click("#more")
    seen.settled()
    assert seen.ids() == ids(model.recommend(history=history, weights=weights, k=40))


def test_dislikes_alone_leave_popular_items(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    gone = seen.press("dislike", 1)
    assert seen.ids() == ids(model.recommend(history=[gone], weights=[DISLIKE_WEIGHT], k=20))
    assert gone not in seen.ids()
    assert seen.text("#heading") == "Popular to start with"


def test_reasons_are_the_likes_that_speak_for_an_item_more_than_for_the_list(
    visit: Start, page_file: Path, model: Model
) -> None:
    seen = visit().open(page_file)
    history = [seen.press("like", 0)]
    assert set(seen.page.locator("#items .because").all_inner_texts()) == {""}, (
        "one like is every row's reason"
    )
    history += [seen.press("like", place) for place in (7, 3)]
    shown = seen.page.locator("#items .because").all_inner_texts()
    shares = []
    for item in seen.ids():
        parts = [part for part in model.explain(history, item).contributions if part.score > 0]
        whole = sum(part.score for part in parts)
        shares.append({str(part.title): part.score / whole for part in parts})
    usual = {name: sum(row.get(name, 0) for row in shares) / len(shares) for row in shares for name in row}
    expected = []
    for row in shares:
        telling = [name for name in row if row[name] >= 1.25 * usual[name]]
        best = sorted(telling, key=lambda name: -row[name])[:2]
        expected.append(f"Because you liked {' and '.join(best)}" if best else "")
    assert shown == expected
    assert "" in shown and len(set(shown)) >= 3


def test_item_sheet_takes_the_score_apart_and_shows_neighbours(
    visit: Start, page_file: Path, model: Model
) -> None:
    seen = visit().open(page_file)
    history = [seen.press("like", 0), seen.press("like", 2), seen.press("dislike", 5)]
    item = seen.ids()[1]
    seen.page.locator("#items .title").nth(1).click()
    seen.settled()
    parts = model.explain(history, item, weights=[1, 1, DISLIKE_WEIGHT]).contributions
    parts = sorted(parts, key=lambda part: -abs(part.score))
    whole = sum(abs(part.score) for part in parts)
    expected = [
        f"{'Not for you:' if part.id == history[2] else 'You liked'} {part.title}\n"
        f"{'for' if part.score > 0 else 'against'} {100 * abs(part.score) / whole:.0f}\u00a0%"
        for part in parts
    ]
    assert seen.page.locator("#item .reasons li").all_inner_texts() == expected
    widths = seen.page.eval_on_selector_all(
        "#item .weight", "bars => bars.map(bar => parseFloat(bar.style.width))"
    )
    assert widths == [round(100 * abs(part.score) / whole) for part in parts], (
        "a bar is as long as its number"
    )


def test_similar_leaves_out_what_was_chosen(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    first = seen.ids()[0]
    near = ids(model.similar(first, k=9))
    seen.page.locator("#items .title").first.click()
    seen.settled()
    assert seen.ids("#item") == near[:6]
    for _ in range(2):
        seen.page.locator("#item .row .like").first.click()
        seen.settled()
    assert seen.ids("#item") == near[2:8]


def test_tags_filter_any_and_all(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    liked = seen.press("like", 0)
    seen.page.click("#tags .more")
    for tag in ("bakery", "Old Mint"):
        seen.page.fill("#find-tag", tag[:4].upper())
        seen.page.click(f"#found-tags [data-tag='{tag}']")
    seen.page.keyboard.press("Escape")
    seen.settled()
    assert seen.ids() == ids(model.recommend(history=[liked], k=20, tags=["bakery", "Old Mint"]))
    seen.page.click("text=all of these")
    seen.settled()
    every = model.profile.items
    both = set(ids(model.recommend(k=every, tags=["bakery"]))) & set(
        ids(model.recommend(k=every, tags=["Old Mint"]))
    )
    assert seen.ids() == ids(model.recommend(history=[liked], k=20, allow=both)) != []
    seen.page.click("#tags [data-tag='bakery']")
    seen.page.click("#tags .more")
    seen.page.click("#found-tags [data-tag='Harbour Steps']")
    seen.page.keyboard.press("Escape")
    seen.settled()
    assert seen.ids() == [] and "Take one off" in seen.text("#empty")


def plain(text: str) -> str:
    """An independent reading of 'without case and accents'."""
    text = unicodedata.normalize("NFKD", text).lower().replace("ß", "ss").replace("ł", "l")
    return " ".join(re.findall(r"\w+", "".join(one for one in text if not unicodedata.combining(one))))


def expected_search(model: Model, wanted: str) -> list:
    """Every matching id in order, the slow way."""
    words = plain(wanted).split()

    def rank(title: str) -> int:
        if plain(title).startswith(plain(wanted)):
            return 0
        return 1 if all(f" {word}" in f" {plain(title)}" for word in words) else 2

    popular = model.recommend(k=model.profile.items)
    matching = [one for one in popular if all(word in plain(one.title or "") for word in words)]
    return ids(sorted(matching, key=lambda one: rank(one.title or "")))


def test_search_is_blind_to_case_and_accents(visit: Start, page_file: Path, model: Model) -> None:
    seen = visit().open(page_file)
    for wanted in ("cafe", "CAFÉ über", "strasse no 9", "wroclaw", "old", "ar ga", "x", "b bold sons"):
        seen.search(wanted)
        expected = expected_search(model, wanted)
        assert expected and seen.ids() == expected[:20], wanted
        assert seen.text("#hint").split()[0] == f"{len(expected):,}"


def test_search_by_id_and_for_nothing(visit: Start, page_file: Path) -> None:
    seen = visit().open(page_file)
    seen.search("P0123")
    assert seen.ids()[0] == "p0123"
    seen.search("qqqq")
    assert seen.ids() == [] and "No title matches “qqqq”" in seen.text("#empty")
    seen.page.click("#clear")
    seen.settled()
    assert len(seen.ids()) == 20 and seen.focused() == "search"


@pytest.mark.parametrize(
    "name", ["full-lightgcn-bitmask-int4", "personal-mgdcf-loops-bitmask-int8", "items-xsimgcl-dense-int4"]
)
def test_every_mode(visit: Start, tmp_path: Path, name: str) -> None:
    model = load(GOLDEN / f"{name}.srec")
    write_page(tmp_path / "page.html", GOLDEN / f"{name}.srec")
    seen = visit().open(tmp_path / "page.html")
    first = model.recommend(k=20) if model.profile.mode == "personal" else model.recommend(history=[], k=20)
    assert seen.ids() == ids(first)
    assert ("its owner" in seen.text("#hint")) == (model.profile.mode == "personal")
    liked = [seen.press("like", 0), seen.press("like", 0)]
    history = [*(model.ids[index] for index in model.seen), *liked]
    assert seen.ids() == ids(model.recommend(history=history, k=20))
    seen.page.locator("#items .title").first.click()
    seen.settled()
    assert seen.page.locator("#item .reasons li").count() >= 2
