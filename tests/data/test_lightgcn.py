"""LightGCN text: a real file of that form and each way it can be malformed."""

import pytest

from sparserec.data import read_source
from sparserec.data.errors import (
    EmptyDataError,
    EmptyUserError,
    IdRangeError,
    MalformedLineError,
    UnreadableFileError,
)


def write(folder, train, test=None):
    (folder / "train.txt").write_text(train)
    if test is not None:
        (folder / "test.txt").write_text(test)
    return folder


def pairs(part):
    return list(zip(part.user_ids.external(part.users).tolist(), part.item_ids.external(part.items).tolist()))


def test_train_and_test_share_their_numbering(tmp_path):
    source = read_source(write(tmp_path, "0 3 1\n1 2\n2 1 \n", "0 2\n1\n2 4 3\n"))
    assert pairs(source.train) == [(0, 1), (0, 3), (1, 2), (2, 1)]
    assert pairs(source.test) == [(0, 2), (2, 3), (2, 4)]
    assert source.train.item_ids == source.test.item_ids and source.train.n_items == 4
    assert source.report.parts == {"train": 4, "test": 3}


def test_spaces_blank_lines_and_windows_line_ends_do_not_matter(tmp_path):
    source = read_source(write(tmp_path, "\ufeff0  3 1\r\n\r\n1\t2"))
    assert pairs(source.train) == [(0, 1), (0, 3), (1, 2)]


@pytest.mark.parametrize(
    ("train", "error", "message"),
    [
        ("0 1\n1 2 x3\n", MalformedLineError, r"train.txt:2: .*'x3'"),
        ("0 1\n1 2 2.5\n", MalformedLineError, r"train.txt:2: .*'2.5'"),
        ("0 1\n\n2 -4\n", IdRangeError, r"train.txt:3: id -4 is negative"),
        ("0 1\n1 99999999999999999999\n", IdRangeError, r"train.txt:2: id 9+ does not fit"),
        ("0 1\n1\n", EmptyUserError, r"train.txt:2: user 1 has no interactions"),
        ("", EmptyDataError, "train.txt: the file is empty"),
        (" \n\n", EmptyDataError, "train.txt: the file is empty"),
    ],
)
def test_malformed_text_is_refused_with_its_line(tmp_path, train, error, message):
    with pytest.raises(error, match=message):
        read_source(write(tmp_path, train, "0 2\n"))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UnreadableFileError, match="nowhere"):
        read_source(tmp_path / "nowhere")


def test_repeats_and_known_test_pairs_are_counted(tmp_path):
    source = read_source(write(tmp_path, "0 1 1 2\n0 2\n", "0 2 3\n"))
    assert source.report.dropped == {"repeat of another row": 2, "test pair that is also in train": 1}
    assert pairs(source.test) == [(0, 3)]
