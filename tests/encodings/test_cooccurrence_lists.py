"""Lists of a log as files hold them: settings that validation prefers, and the kept items of a file."""

import numpy as np
import pytest

from sparserec.classics import Cooccurrence, histories
from sparserec.data import Split, read_source, split_interactions
from sparserec.encodings import Encoding, find_encoding
from sparserec.encodings.cooccurrence import CHOICES, CooccurrenceKind, CooccurrenceLists, choose_lists
from sparserec.encodings.lists import encode_lists
from sparserec.evaluation import evaluate_scorer


@pytest.fixture(scope="module")
def split() -> Split:
    rng = np.random.default_rng(1)
    pairs = [(u, i) for u in range(80) for i in range(45) if u % 3 == i % 3 and rng.random() < 0.5]
    pairs += [(u, int(45 * rng.random() ** 3)) for u in range(80) for _ in range(4)]
    return split_interactions(read_source(sorted(set(pairs))), "resplit", 0)


def test_no_single_change_is_better_than_what_was_chosen(split: Split) -> None:
    def score(settings: Cooccurrence) -> float:
        scorer = settings.fit(split.train).scorer(histories(split.train))
        return evaluate_scorer(scorer, split.train, split.valid).metrics["ndcg@20"]

    chosen = choose_lists(split, split.valid, 1)
    best = score(chosen)
    for name, values in CHOICES.items():
        assert max(score(chosen.with_value(name, value)) for value in values) <= best, name
    assert best > score(Cooccurrence()), "the default would do: nothing was chosen"


def test_a_file_of_some_items_holds_their_part_of_the_lists(split: Split) -> None:
    log = CooccurrenceLists(split.train, Cooccurrence(steps=0))
    items = np.array([7, 3, 30, 12, 1, 44])
    made = encode_lists(log.cut(5), 8, items).matrix(np.arange(len(items)), len(items)).toarray()
    whole = log.cut(5).toarray()[np.ix_(items, items)]
    np.testing.assert_array_equal(made > 0, whole > 0)
    np.testing.assert_allclose(made, whole, rtol=0.02)
    assert log.cut(5) is log.cut(5), "computed once"


def test_the_name_people_type_is_the_stored_one() -> None:
    """Files, rows and settings of before hold `together`; both names are read."""
    assert Encoding(kind="co-occurrence") == Encoding(kind="together")
    assert type(find_encoding("co-occurrence")) is type(find_encoding("together")) is CooccurrenceKind
