"""What the page says and how it looks for catalogues of other people: titles, hundreds of tags, own name and colour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from page_driver import Visit

from sparserec.device import ModelParts, encode_table, write_model
from sparserec.errors import SettingError
from sparserec.export.page import write_page
from sparserec.export.page_colour import contrast

Start = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
LONG = (
    "The Englishman Who Went Up a Hill but Came Down a Mountain and Told Everybody About It Again and Again"
)
TITLES = {
    "English Patient, The (1996)": "The English Patient (1996)",
    "City of Lost Children, The (Cité des enfants perdus, La) (1995)": (
        "The City of Lost Children (La Cité des enfants perdus) (1995)"
    ),
    "Appartement, L' (1996)": "L'Appartement (1996)",
    "Crime, Punishment, and a Day": "Crime, Punishment, and a Day",
    "Heat (1995)": "Heat (1995)",
    f"{LONG} (1995)": f"{LONG} (1995)",
}
TAGS = 300


def make_page(folder: Path, card: dict, **look: str) -> Path:
    """A page of films with awkward titles and three hundred tags."""
    rng = np.random.default_rng(0)
    items = 60
    titles = [*TITLES, *(f"Film {number}" for number in range(items - len(TITLES)))]
    tags = [tuple(f"keyword {(item * 5 + k) % TAGS}" for k in range(5)) for item in range(items)]
    parts = ModelParts(
        mode="items", base="lightgcn", weight=np.array([0.5, 0.5]), score=encode_table(rng.normal(size=(items, 8)), 8),
        degree=np.arange(items, 0, -1), users=100, item_ids=list(range(items)), titles=titles, tags=tags,
        card={"producer": "a test", "metrics": {"file": {"folded": {"recall@20": 0.25, "ndcg@20": 0.2}}}, **card},
    )  # fmt: skip
    write_model(folder / "films.srec", parts)
    write_page(folder / "films.html", folder / "films.srec", **look)
    return folder / "films.html"


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_page(
        tmp_path_factory.mktemp("films"), {"split": {"protocol": "resplit", "seed": 0, "hash": "ab"}}
    )


def test_titles_read_as_people_say_them(visit: Start, films: Path) -> None:
    seen = visit().open(films)
    shown = seen.page.eval_on_selector_all("#items .title", "all => all.map(one => one.title)")
    assert shown[: len(TITLES)] == list(TITLES.values())
    assert seen.page.locator("#items .name").first.inner_text() == "The English Patient"
    seen.search("the english pat")
    assert seen.ids() == [0]


@pytest.mark.parametrize("screen", [{}, PHONE])
def test_a_long_title_is_cut_and_keeps_its_year(visit: Start, films: Path, screen: dict) -> None:
    seen = visit(**screen).open(films)
    row = seen.page.locator("#items .row").nth(list(TITLES.values()).index(f"{LONG} (1995)"))
    name = row.locator(".name")
    lines = name.evaluate("e => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)")
    assert round(lines) <= 2
    if screen:
        assert name.evaluate("e => e.scrollHeight > e.offsetHeight + 2"), "there was nothing to cut"
    assert row.locator(".meta").inner_text().startswith("1995 · keyword")
    row.locator(".title").click()
    seen.settled()
    assert seen.text("#item-title") == f"{LONG} (1995)", "the sheet has all of it"


def test_hundreds_of_tags(visit: Start, films: Path) -> None:
    seen = visit(**PHONE).open(films)
    assert seen.page.locator("#tags .chip").count() == 13 and seen.text("#tags .more") == "All 300 tags"
    seen.page.click("#tags .more")
    assert seen.page.locator("#found-tags .chip").count() == 60
    assert "and 240 more" in seen.text("#more-tags")
    seen.page.fill("#find-tag", "word 299")
    assert seen.page.locator("#found-tags .chip").count() == 1
    seen.page.click("#found-tags .chip")
    seen.page.click("#all-tags .close")
    seen.settled()
    first = seen.page.locator("#tags .chip").first
    seen.page.wait_for_function("() => document.querySelector('#tags .chip').innerText === 'keyword 299'")
    assert first.inner_text() == "keyword 299" and first.get_attribute("aria-pressed") == "true"
    assert seen.focused() == "All 300 tags"
    assert seen.ids() == [59]
    seen.page.click("#tags .more")
    seen.page.fill("#find-tag", "zzz")
    assert "No tag" in seen.text("#more-tags")


OVERLAPS = """() => {
  const toast = document.getElementById('toast').getBoundingClientRect()
  const inside = element => element.closest('#toast') || element.contains(document.getElementById('toast'))
  return [...document.querySelectorAll('button, a, input, p, li, h1, h2')].filter(e => e.checkVisibility() && !inside(e))
    .filter(e => { const box = e.getBoundingClientRect()
      return box.width > 2 && box.left < toast.right && box.right > toast.left && box.top < toast.bottom && box.bottom > toast.top })
    .map(e => e.id || e.textContent)
}"""


@pytest.mark.parametrize("screen", [{}, PHONE])
def test_the_toast_covers_nothing_and_moves_nothing(visit: Start, films: Path, screen: dict) -> None:
    seen = visit(**screen).open(films)
    places = "() => ['.searchbar', '#items'].map(e => document.querySelector(e)).map(e => [e.offsetTop, e.offsetHeight])"
    (_, bar), (top, _) = seen.page.evaluate(places)
    seen.press("like", 3)
    seen.page.evaluate("() => scrollTo(0, 0)")
    assert seen.page.locator("#undo").is_visible()
    assert seen.page.evaluate(OVERLAPS) == []
    (_, bar_after), (top_after, _) = seen.page.evaluate(places)
    assert (bar, top) == (bar_after, top_after), "neither bar nor list moves under the finger"
    seen.page.mouse.wheel(0, 600)
    seen.page.wait_for_function("() => scrollY > 100")
    assert seen.page.locator("#undo").is_visible()
    box = seen.page.locator("#undo").bounding_box()
    assert 0 <= box["y"] < 740


@pytest.mark.parametrize(("protocol", "later"), [("temporal", True), ("resplit", False)])
def test_went_on_to_choose_is_said_only_of_a_split_by_time(
    visit: Start, tmp_path: Path, protocol: str, later: bool
) -> None:
    seen = visit().open(make_page(tmp_path, {"split": {"protocol": protocol, "seed": 0, "hash": "ab"}}))
    seen.page.click("#open-about")
    seen.page.wait_for_selector("#about[open]")
    for place in ("#summary", "#about"):
        assert ("people went on to choose" in seen.text(place)) == later
        assert ("hidden from it" in seen.text(place)) != later


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", ["#7a1fd1", "#ffe000", "#000000"])
def test_own_title_and_colour_that_can_be_read(
    visit: Start, tmp_path: Path, scheme: str, colour: str
) -> None:
    page = make_page(tmp_path, {}, title="Film night", colour=colour)
    seen = visit(color_scheme=scheme).open(page)
    assert seen.text("h1") == "Film night" and seen.page.title() == "Film night"
    style = "e => { const s = getComputedStyle(e); return [s.getPropertyValue('--accent'), s.getPropertyValue('--on-accent')] }"
    accent, on_accent = seen.page.eval_on_selector("html", style)
    ground, text = ("#eceae4", "#ffffff") if scheme == "light" else ("#262b31", "#0b0d0f")
    assert contrast(accent, ground) >= 4.5 and contrast(accent, text) >= 4.5
    assert on_accent in (text, "#fff")
    if (scheme, colour) == ("light", "#7a1fd1"):
        assert accent == colour, "a colour that can be read stays what it is"


def test_a_colour_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="page_color 'blue': write a colour as #rrggbb"):
        make_page(tmp_path, {}, colour="blue")
