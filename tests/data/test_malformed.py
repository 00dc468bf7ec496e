"""Each way an input can be wrong has a named error that says where it is and what to do."""

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sparserec.data import IdMap, read_item_info, read_source, sniff
from sparserec.data import errors as p
from sparserec.errors import DataError

CSV_CASES = {
    "empty": (b"", {}, p.EmptyDataError, "log.csv: the file is empty"),
    "blank": (b" \n \n", {}, p.EmptyDataError, "log.csv: the file is empty"),
    "only header": (b"user,item\n", {}, p.EmptyDataError, "log.csv: there are no rows"),
    "short line": (
        b"user,item\n1,2\n\n3\n",
        {},
        p.MalformedLineError,
        "log.csv:4: 1 columns .* 2 .*fix the line",
    ),
    "long line": (b"user,item\n1,2\n3,4,5\n", {}, p.MalformedLineError, "log.csv:3: 3 columns"),
    "no item": (
        b"user,thing\n1,2\n",
        {},
        p.MissingColumnError,
        "log.csv: no item column .*'thing'.*item_col",
    ),
    "asked": (b"user,item\n1,2\n", {"user_col": "usr"}, p.MissingColumnError, "'usr' .*did you mean 'user'"),
    "twice": (b"user,item,item\n1,2,3\n", {}, p.MissingColumnError, "several columns are called 'item'"),
    "no rating": (
        b"user,item\n1,2\n",
        {"min_rating": 3},
        p.MissingColumnError,
        "needs a rating column.*rating_col",
    ),
    "bad rating": (
        b"user,item,rating\n1,2,3\n\n1,3,good\n",
        {"min_rating": 3},
        p.BadValueError,
        "log.csv:4: column 'rating' has 'good'",
    ),
    "endless rating": (
        b"user,item,rating\n1,2,inf\n",
        {"min_rating": 3},
        p.BadValueError,
        "log.csv:2: column 'rating'",
    ),
    "no number": (
        b"user,item,rating\n1,2,\n",
        {"min_rating": 3},
        p.BadValueError,
        "log.csv:2: column 'rating' has ''",
    ),
    "bad time": (
        b"user,item,time\n1,2,2024-01-01\n1,3,yesterday\n",
        {},
        p.BadValueError,
        "log.csv:3: column 'time' has 'yesterday'",
    ),
    "not utf-8": (b"user,item\nann,caf\xe9\n", {}, p.EncodingError, "log.csv:2: not UTF-8 .*0xe9"),
    "one column": (b"hello\nworld\n", {}, p.UnknownFormatError, "log.csv: the first line has one column"),
    "binary": (b"\x00\x01\x02,\x00", {}, p.UnknownFormatError, "log.csv: a binary file"),
    "all filtered": (
        b"user,item,rating\n1,2,3\n",
        {"min_rating": 9},
        p.EmptyDataError,
        "no interactions .*rating below 9",
    ),
    "core too large": (b"user,item\n1,2\n", {"core": 5}, p.EmptyDataError, "core=5 leaves no interactions"),
}


@pytest.mark.parametrize("name", CSV_CASES)
def test_csv(tmp_path, name):
    data, options, error, message = CSV_CASES[name]
    (tmp_path / "log.csv").write_bytes(data)
    with pytest.raises(error, match=message):
        read_source(tmp_path / "log.csv", **options)
    assert issubclass(error, DataError)


def test_bad_utf8_beyond_the_first_lines(tmp_path):
    good = "".join(f"{row},{row}\n" for row in range(40_000)).encode()
    (tmp_path / "log.csv").write_bytes(b"user,item\n" + good + b"caf\xe9,1\n")
    with pytest.raises(p.EncodingError, match=r"log.csv:40002: not UTF-8"):
        read_source(tmp_path / "log.csv")


@pytest.mark.parametrize("cut", [5, 40, -6])
def test_truncated_gzip(tmp_path, cut):
    packed = gzip.compress("\n".join(["user,item"] + [f"{row},{row}" for row in range(3000)]).encode())
    (tmp_path / "log.csv.gz").write_bytes(packed[:cut])
    with pytest.raises(p.UnreadableFileError, match=r"log.csv.gz: damaged or truncated gzip"):
        read_source(tmp_path / "log.csv.gz")


def test_not_a_gzip_at_all(tmp_path):
    (tmp_path / "log.csv.gz").write_text("user,item\n1,2\n")
    with pytest.raises(p.UnreadableFileError, match="damaged or truncated gzip"):
        read_source(tmp_path / "log.csv.gz")


def test_damaged_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    pd.DataFrame({"user": np.arange(1000), "item": np.arange(1000)}).to_parquet(path)
    whole = path.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        whole[:-3],
        b"PAR1" + whole[4:50] + b"PAR1",
        b"not parquet at all",
    ):
        path.write_bytes(damaged)
        with pytest.raises(p.UnreadableFileError, match=r"log.parquet: damaged or truncated Parquet"):
            read_source(path)
    path.write_bytes(b"")
    with pytest.raises(p.EmptyDataError, match=r"log.parquet: the file is empty"):
        read_source(path)


def test_missing_and_refused_files(tmp_path):
    with pytest.raises(p.UnreadableFileError, match=r"nowhere.csv: no such file"):
        read_source(tmp_path / "nowhere.csv")
    (tmp_path / "log.pkl").write_bytes(b"x")
    with pytest.raises(p.UnknownFormatError, match="pickle files can run code"):
        read_source(tmp_path / "log.pkl")
    (tmp_path / "log.pkl").unlink()
    with pytest.raises(p.UnknownFormatError, match="no data file in this folder"):
        read_source(tmp_path)
    with pytest.raises(p.EmptyDataError, match="nothing to read"):
        read_source()


OBJECT_CASES = {
    "nothing": ([], p.EmptyDataError, "no .user, item. pairs"),
    "row": ([(1, 2), (3,)], p.MalformedLineError, r"row 1 is \(3,\)"),
    "mixed": ([(1, 2), ("a", 3)], p.BadValueError, "mixed or unsupported"),
    "number": (7, p.UnknownFormatError, "cannot read interactions from int"),
    "fractions": (pd.DataFrame({"user": [1.5], "item": [1]}), p.BadValueError, "ids with fractions"),
    "truth": (pd.DataFrame({"user": [True], "item": [1]}), p.BadValueError, "type bool cannot be an id"),
    "huge": (
        pd.DataFrame({"user": np.array([2**63], np.uint64), "item": [1]}),
        p.IdRangeError,
        "beyond 64 bits",
    ),
    "empty frame": (pd.DataFrame({"user": [], "item": []}), p.EmptyDataError, "no rows"),
    "empty matrix": (sp.csr_matrix((3, 3)), p.EmptyDataError, "no entries"),
    "endless": (sp.csr_matrix(np.array([[np.inf]])), p.BadValueError, "not finite"),
    "columns": (pd.DataFrame({"a": [1], "b": [1]}), p.MissingColumnError, "no user column"),
}


@pytest.mark.parametrize("name", OBJECT_CASES)
def test_objects(name):
    value, error, message = OBJECT_CASES[name]
    with pytest.raises(error, match=message):
        read_source(value)


def test_rows_without_ids_are_dropped_and_counted():
    source = read_source(pd.DataFrame({"user": ["a", None, "b"], "item": [1.0, 2.0, None]}))
    assert len(source.train) == 1 and source.report.dropped == {"missing user or item id": 2}


def test_item_info_forms(tmp_path):
    ids = IdMap(np.array([3, 1, 2]))
    (tmp_path / "items.csv").write_text('item_id,name,categories\n1,"One, the first",a|b\n2,Two,\n9,Nine,c\n')
    info = read_item_info(tmp_path / "items.csv", ids)
    assert info.titles == ["3", "One, the first", "Two"] and info.tags == [(), ("a", "b"), ()]
    (tmp_path / "movies.dat").write_bytes(
        "1::Caf\xe9 (1995)::Drama|War\n3::Three::Comedy\n".encode("latin-1")
    )
    info = read_item_info(tmp_path / "movies.dat", ids)
    assert info.titles == ["Three", "Café (1995)", "2"] and info.tags[1] == ("Drama", "War")
    pd.DataFrame({"id": [1], "title": ["One"], "tags": [["x", "y"]]}).to_parquet(tmp_path / "items.parquet")
    assert read_item_info(tmp_path / "items.parquet", ids).tags[1] == ("x", "y")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (b"item_id,title\n7,Seven\n", p.MissingColumnError, "none of its 1 ids"),
        (b"item_id,title\n1\n", p.MalformedLineError, "items.csv:2: 1 columns"),
        (b"title,name\nx,y\n", p.MissingColumnError, "expected columns id"),
        (b"item_id,title\n1,\xff\n", p.EncodingError, "items.csv:2"),
        (b"", p.EmptyDataError, "items.csv: the file is empty"),
    ],
)
def test_item_info_problems(tmp_path, text, error, message):
    (tmp_path / "items.csv").write_bytes(text)
    with pytest.raises(error, match=message):
        read_item_info(tmp_path / "items.csv", IdMap(np.array([1])))


def test_a_gzip_that_unpacks_to_far_too_much(tmp_path):
    """A file of some hundred kB that would unpack to 300 MB is refused before that much is held."""
    path = tmp_path / "log.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"user,item\n")
        for _ in range(300):
            file.write(b"1,2\n" * 250_000)
    assert path.stat().st_size < 600_000
    tracemalloc.start()
    try:
        with pytest.raises(
            p.UnreadableFileError, match=r"gz: unpacks to more than 100 times .*unpack it yourself"
        ):
            read_source(path)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_a_gzip_of_a_log_that_shrinks_well_is_read(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"user,item\n" + b"1,2\n" * 500_000))
    assert path.stat().st_size * sniff.MOST_UNPACKED < 2_000_000, "above the share, below what is always read"
    assert len(sniff.read_bytes(path)) == 2_000_010
