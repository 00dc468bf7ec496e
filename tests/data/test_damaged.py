"""Whatever bytes a file has: it is read, or refused with an error of ours; never another exception."""

import gzip
import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparserec.data import read_source
from sparserec.errors import DataError


def whole_files():
    table = io.BytesIO()
    pd.DataFrame({"user_id": range(40), "item_id": [f"i{row % 7}" for row in range(40)]}).to_parquet(table)
    rows = "".join(f"{row},{row % 7},{row % 5},{row * 1000}\n" for row in range(40)).encode()
    return {
        "log.csv": b"user_id,item_id,rating,timestamp\n" + rows,
        "plain.csv": rows,
        "log.csv.gz": gzip.compress(b"user,item,rating,time\n" + rows),
        "log.parquet": table.getvalue(),
        "train.txt": b"".join(b"%d %d %d\n" % (user, user % 7, 7 + user % 3) for user in range(40)),
        "ratings.dat": rows.replace(b",", b"::"),
        "log.inter": b"user_id:token\titem_id:token\n" + b"1\t2\n" * 20,
    }


WHOLE = whole_files()
edits = st.lists(
    st.tuples(st.integers(0, 2000), st.binary(max_size=4), st.integers(0, 6)), min_size=1, max_size=6
)


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=15)
@given(changes=edits, cut=st.integers(0, 2000))
def test_damaged_files_are_read_or_refused(tmp_path_factory, name, changes, cut):
    data = WHOLE[name]
    for position, new, removed in changes:
        at = position % (len(data) + 1)
        data = data[:at] + new + data[at + removed :]
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(data[: len(data) - cut % 50])
    for options in ({}, {"min_rating": 2.0, "core": 2}):
        try:
            source = read_source(path, **options)
        except DataError as error:
            assert str(path.name) in str(error) or "core=" in str(error)
        else:
            assert len(source.train) > 0


@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "log"
    path.write_bytes(data)
    try:
        read_source(path)
    except DataError as error:
        assert "log" in str(error)
