"""Every input form, read from a real file or object of that form, must give the same interactions."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from sparserec.data import read_source, split_interactions
from sparserec.data.errors import BadValueError
from sparserec.data.sniff import sniff
from sparserec.errors import SettingError

ROWS = [(1, 10, 5.0, 100), (1, 20, 3.0, 200), (2, 10, 4.0, 50), (3, 30, 1.0, 70), (3, 10, 4.5, 60)]
PAIRS = sorted((user, item) for user, item, _, _ in ROWS)


def pairs(part):
    return list(zip(part.user_ids.external(part.users).tolist(), part.item_ids.external(part.items).tolist()))


def text(separator, header=None, rows=ROWS):
    lines = [header] if header else []
    return "\n".join(lines + [separator.join(map(str, row)) for row in rows]) + "\n"


TEXTS = {
    "log.csv": text(",", "user_id,item_id,rating,timestamp"),
    "quoted.csv": '"userId","movieId","rating","timestamp"\n' + text(","),
    "log.tsv": text("\t", "uid\tproduct_id\tstars\ttime"),
    "semicolon.csv": text(";", "user;item;score;date"),
    "ml.inter": text("\t", "user_id:token\titem_id:token\trating:float\ttimestamp:float"),
    "u.data": text("\t"),
    "ratings.dat": text("::"),
    "lines.txt": text(" "),
    "headless.csv": text(","),
    "spaces.txt": text("   ", "user item rating timestamp"),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
def test_text_tables(tmp_path, name, packed):
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(TEXTS[name].encode()) if packed else TEXTS[name].encode())
    source = read_source(path)
    assert pairs(source.train) == PAIRS
    assert source.train.timestamps.tolist() == [100, 200, 50, 60, 70]
    assert pairs(read_source(str(path), min_rating=4).train) == [(1, 10), (2, 10), (3, 10)]


def test_weight_lines_are_not_mistaken_for_lightgcn_text(tmp_path):
    (tmp_path / "train.txt").write_text("0 5 1\n0 6 1\n1 5 1\n")
    (tmp_path / "test.txt").write_text("0 7 1\n1 8 1\n1 7 1\n")
    source = read_source(tmp_path)
    assert pairs(source.train) == [(0, 5), (0, 6), (1, 5)] and len(source.test) == 3
    assert "space between columns" in source.report.format


def test_user_item_time_without_header(tmp_path):
    (tmp_path / "log.csv").write_text("7,1,1700000000\n7,2,1600000000\n")
    assert read_source(tmp_path / "log.csv").train.timestamps.tolist() == [1700000000, 1600000000]


@pytest.mark.parametrize("name", ["ids.parquet", "ids.pq", "no_suffix"])
def test_parquet_file(tmp_path, name):
    frame = pd.DataFrame(ROWS, columns=["customer_id", "asin", "overall", "ts"])
    frame.to_parquet(tmp_path / name)
    source = read_source(tmp_path / name)
    assert pairs(source.train) == PAIRS
    assert source.report.columns == {"user": "customer_id", "item": "asin", "rating": "overall", "time": "ts"}


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_folder_of_parts(tmp_path, suffix):
    for number in range(3):
        frame = pd.DataFrame(ROWS[number::3], columns=["user_id", "item_id", "rating", "timestamp"])
        path = tmp_path / f"part-{number}.{suffix}"
        frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "README.md").write_text("about this data")
    assert pairs(read_source(tmp_path).train) == PAIRS


def test_recbole_folder_with_own_split(tmp_path):
    header = "user_id:token\titem_id:token\n"
    for part, rows in {"train": "1\t2\n1\t3\n", "valid": "1\t4\n", "test": "1\t5\n"}.items():
        (tmp_path / f"toy.{part}.inter").write_text(header + rows)
    split = split_interactions(read_source(tmp_path), "files")
    assert [len(part) for part in (split.train, split.valid, split.test)] == [2, 1, 1]


def test_own_train_valid_and_test_files(tmp_path):
    for part, rows in {"a": "u1,i1\nu2,i1\n", "b": "u1,i2\n", "c": "u2,i3\n"}.items():
        (tmp_path / f"{part}.csv").write_text("user,item\n" + rows)
    source = read_source(train=tmp_path / "a.csv", valid=tmp_path / "b.csv", test=tmp_path / "c.csv")
    assert pairs(source.train) == [("u1", "i1"), ("u2", "i1")]
    assert pairs(source.valid) == [("u1", "i2")] and pairs(source.test) == [("u2", "i3")]


FRAME = pd.DataFrame(ROWS, columns=["user_id", "item_id", "rating", "timestamp"])
OBJECTS = {
    "pandas": FRAME,
    "pandas strings": FRAME.astype({"user_id": str, "item_id": str}),
    "pandas categories": FRAME.astype({"user_id": "category"}),
    "pandas floats": FRAME.astype({"user_id": float}),
    "polars": pl.from_pandas(FRAME),
    "polars lazy": pl.from_pandas(FRAME).lazy(),
    "arrow": pa.Table.from_pandas(FRAME),
    "columns": {"user_id": FRAME.user_id.tolist(), "item_id": FRAME.item_id.tolist()},
    "pairs": PAIRS,
    "generator": "made below",
    "rows": ROWS,
    "array": np.array(PAIRS),
    "csr": sp.csr_matrix((np.ones(5), tuple(np.array(PAIRS).T)), shape=(9, 50)),
    "csr array": sp.csr_array((np.ones(5), tuple(np.array(PAIRS).T)), shape=(9, 50)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_python_objects(name):
    given_object = (pair for pair in PAIRS) if name == "generator" else OBJECTS[name]
    found = pairs(read_source(given_object).train)
    assert [(int(user), int(item)) for user, item in found] == PAIRS


def test_python_texts_stay_texts_and_file_numbers_become_numbers(tmp_path):
    assert pairs(read_source([("1", "2")]).train) == [("1", "2")]
    path = tmp_path / "log.csv"
    path.write_text("user,item\n007,1\n7,2\n")
    assert pairs(read_source(path).train) == [("007", 1), ("7", 2)]


def test_spaces_around_cells_do_not_matter(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user, item, rating\nann, 7, 5\n bob ,7 , 2\n")
    assert pairs(read_source(path).train) == [("ann", 7), ("bob", 7)]
    assert pairs(read_source(path, min_rating=3).train) == [("ann", 7)]


def test_numbers_in_one_part_and_texts_in_another_meet_as_texts(tmp_path):
    (tmp_path / "train.csv").write_text("user,item\n1,5\n2,5\n")
    (tmp_path / "test.csv").write_text("user,item\n1,new\n")
    source = read_source(tmp_path)
    assert pairs(source.train) == [(1, "5"), (2, "5")] and pairs(source.test) == [(1, "new")]


def test_named_columns_and_dates(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("who,what,when,how\nann,x,2024-01-02 00:00:00,3\nann,y,2024-01-01 12:00:00,4\n")
    source = read_source(
        path, user_col="who", item_col="what", time_col="when", rating_col="how", min_rating=1
    )
    assert pairs(source.train) == [("ann", "x"), ("ann", "y")]
    assert np.diff(source.train.timestamps).tolist() == [-43200.0]
    path.write_text("ann,x,shop,9\nann,y,shop,3\n")
    positions = read_source(path, header=False, user_col="1", item_col="3", time_col="")
    assert pairs(positions.train) == [("ann", "shop")]


def test_report_says_what_was_understood(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user_id,item_id,rating\na,1,5\na,1,4\nb,2,1\n,2,5\nb,1,5\n")
    report = read_source(path, min_rating=4).report
    assert report.dropped == {"missing user or item id": 1, "rating below 4": 1, "repeat of another row": 1}
    lines = "\n".join(report.lines())
    for part in ("comma", "user = user_id", "users         2", "interactions  2", "1 rows: rating below 4"):
        assert part in lines
    assert any("`min_rating`" in note for note in read_source(path).report.notes)
    assert report.as_dict()["interactions"] == 2


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=40), st.integers(1, 3))
def test_core_against_a_slow_version(rows, core):
    kept = set(rows)
    while True:
        good = {
            (user, item)
            for user, item in kept
            if sum(u == user for u, _ in kept) >= core and sum(i == item for _, i in kept) >= core
        }
        if good == kept:
            break
        kept = good
    if kept:
        source = read_source(rows, core=core)
        assert pairs(source.train) == sorted(kept)
        assert source.train.n_users == len({user for user, _ in kept})


def test_drawn_users_keep_all_they_have_whatever_the_order_of_the_rows():
    rows = [(f"u{user}", item) for user in range(20) for item in range(user % 5, 9)]
    first = read_source(rows, draw_users=7).train
    people = {user for user, _ in pairs(first)}
    assert len(people) == first.n_users == 7
    assert pairs(first) == sorted((user, item) for user, item in rows if user in people)
    assert first.n_items == len({item for _, item in pairs(first)})
    assert pairs(read_source(rows[::-1], draw_users=7).train) == pairs(first)
    other = {user for user, _ in pairs(read_source(rows, draw_users=7, draw_seed=1).train)}
    assert other != people
    assert pairs(read_source(rows, draw_users=20).train) == sorted(rows)
    cored = read_source(rows, draw_users=7, core=6).train
    assert cored.n_users <= 7 and min(*cored.user_counts(), *cored.item_counts()) >= 6
    with pytest.raises(SettingError, match="draw_users"):
        read_source(rows, draw_users=0)


def test_parquet_and_csv_of_the_same_log_have_the_same_hash(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["user_id", "item_id", "rating", "timestamp"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    hashes = {read_source(tmp_path / name).train.pair_hash() for name in ("a.csv", "a.parquet")}
    assert len(hashes) == 1


def test_a_mistyped_option_names_the_right_one():
    with pytest.raises(SettingError, match="did you mean 'user_col'"):
        read_source(PAIRS, user_column="x")
    with pytest.raises(SettingError, match="core must be at least 1"):
        read_source(PAIRS, core=0)
    with pytest.raises(SettingError, match="unknown format 'excel'"):
        read_source(__file__, format="excel")


@pytest.mark.parametrize(
    ("first", "others", "header"),
    [
        ("who,thing", ["ann1,shop1", "bob2,shop1"], True),  # words above ids that all have a digit
        ("who,thing", ["ann,shop1", "bob2,shop1"], False),  # an id may be a word
        ("ann1,shop1", ["bob2,shop1"], False),
        ("who,thing", ["1,2", "3,4"], True),
        ("customer,thing", ["ann,shop", "bob,shop"], True),  # a known name
    ],
)
def test_what_is_taken_for_a_header(tmp_path, first, others, header):
    (tmp_path / "log.csv").write_text("\n".join([first, *others]) + "\n")
    assert sniff(tmp_path / "log.csv").header == header


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_in_nanoseconds(tmp_path, zone):
    """What a float64 cannot hold is cut off; the order of the rest stays."""
    times = pd.to_datetime(
        ["2024-03-01 12:00:00.123456789", "2023-01-01", "2024-03-01 12:00:01.5"], format="ISO8601"
    )
    times = times.as_unit("ns").tz_localize("UTC").tz_convert(zone) if zone else times.as_unit("ns")
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [5, 6, 5], "time": times})
    frame.to_parquet(tmp_path / "log.parquet")
    assert "[ns" in str(parquet.read_schema(tmp_path / "log.parquet").field("time").type)
    expected = [1709294400.123456, 1672531200.0, 1709294401.5]
    for data in (tmp_path / "log.parquet", frame):
        assert read_source(data).train.timestamps.tolist() == expected


def test_times_that_no_clock_has(tmp_path):
    times = pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("ms"))
    parquet.write_table(pa.table({"user": [1, 2], "item": [1, 2], "time": times}), tmp_path / "log.parquet")
    with pytest.raises(BadValueError, match=r"log\.parquet.*column 'time' has times beyond the year 290,000"):
        read_source(tmp_path / "log.parquet")


def test_what_is_read_already_takes_no_options() -> None:
    source = read_source([(1, 2), (1, 3), (2, 3)])
    assert read_source(source) is source and len(read_source(source.train).train) == 3
    for more in ({"core": 1000}, {"min_rating": 3}, {"test": [(1, 4)]}):
        for what in (source, source.train):
            with pytest.raises(SettingError, match="read already: options and other parts go with files"):
                read_source(what, **more)
