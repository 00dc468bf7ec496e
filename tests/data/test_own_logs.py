"""Logs as people have them: written by pandas with row labels, folders of several tables, metadata beside the data."""

import numpy as np
import pandas as pd
import pytest

from sparserec.data import IdMap, read_item_info, read_source, split_interactions
from sparserec.data import errors as p
from sparserec.data.splits import own_protocol

ROWS = [(196, 242, 3, 881250949), (186, 302, 3, 891717742), (22, 377, 1, 878887116), (22, 242, 2, 880606923)]
PAIRS = sorted(row[:2] for row in ROWS)
FRAME = pd.DataFrame(ROWS)


def pairs(part):
    return list(zip(part.user_ids.external(part.users).tolist(), part.item_ids.external(part.items).tolist()))


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_frame_without_names_written_with_its_row_labels(tmp_path, width, delimiter):
    frame = FRAME[list(range(width))]
    frame.to_csv(tmp_path / "log.csv", sep=delimiter)
    source = read_source(tmp_path / "log.csv")
    assert pairs(source.train) == PAIRS
    assert source.report.columns["user"] == "0" and source.report.columns["item"] == "1"
    assert any("first column" in note and "is not read" in note for note in source.report.notes)
    assert (source.train.timestamps is not None) == (width == 4)


def test_written_read_and_written_again_has_two_columns_of_labels(tmp_path):
    FRAME.to_csv(tmp_path / "once.csv")
    pd.read_csv(tmp_path / "once.csv").to_csv(tmp_path / "log.csv", index=False)
    source = read_source(tmp_path / "log.csv")
    assert pairs(source.train) == PAIRS
    assert any("'Unnamed: 0' counts the rows" in note for note in source.report.notes)


def test_row_labels_before_named_columns_are_named_as_dropped(tmp_path):
    FRAME.set_axis(["who", "movie_id", "stars", "date"], axis=1).to_csv(tmp_path / "log.csv")
    source = read_source(tmp_path / "log.csv", user_col="who")
    assert pairs(source.train) == PAIRS
    assert any("no name, counts the rows and is not read" in note for note in source.report.notes)


@pytest.mark.parametrize("frame", [FRAME, FRAME[[0, 1, 2]], FRAME[[0, 1]].astype(str) + "x"])
def test_numbers_as_names_without_row_labels(tmp_path, frame):
    frame.to_csv(tmp_path / "log.csv", index=False)
    source = read_source(tmp_path / "log.csv")
    assert len(source.train) == 4
    assert any("was read as names of columns" in note for note in source.report.notes)


def test_a_first_row_that_may_be_data_stays_data_and_is_mentioned(tmp_path):
    (tmp_path / "log.csv").write_text("0,1\n0,2\n3,1\n")
    source = read_source(tmp_path / "log.csv")
    assert pairs(source.train) == [(0, 1), (0, 2), (3, 1)]
    assert any("was read as a row" in note for note in source.report.notes)
    assert pairs(read_source(tmp_path / "log.csv", header=True).train) == [(0, 2), (3, 1)]


def test_row_labels_without_any_header(tmp_path):
    rows = [(user, item, 4) for user in (7, 5, 9) for item in range(20, 24)]
    pd.DataFrame(rows).to_csv(tmp_path / "log.csv", header=False)
    source = read_source(tmp_path / "log.csv")
    assert pairs(source.train) == sorted(row[:2] for row in rows)
    assert any("first column counts the rows" in note for note in source.report.notes)


def test_frames_and_parquet_with_numbers_as_names(tmp_path):
    assert pairs(read_source(FRAME).train) == PAIRS
    assert read_source(FRAME[[0, 1, 3]].set_axis([0, 1, 2], axis=1)).train.timestamps is not None
    FRAME.set_axis(list("0123"), axis=1).to_parquet(tmp_path / "log.parquet")
    assert pairs(read_source(tmp_path / "log.parquet").train) == PAIRS


def write(folder, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


LOG = "user_id,item_id\n1,10\n1,20\n2,10\n"


def test_unrelated_tables_are_not_merged_and_named(tmp_path):
    write(tmp_path, log__csv=LOG, people__csv="user_id,age\n1,30\n", shops__csv="item_id,town\n10,Rome\n")
    source = read_source(tmp_path)
    assert pairs(source.train) == [(1, 10), (1, 20), (2, 10)]
    assert "not read: people.csv, shops.csv" in source.report.notes


def test_two_tables_that_could_both_be_the_log_are_refused(tmp_path):
    write(tmp_path, log__csv=LOG, likes__csv="user_id,item_id,when\n1,10,5\n")
    with pytest.raises(
        p.UnknownFormatError, match=r"several tables could be .*likes.csv, log.csv.*path of one"
    ):
        read_source(tmp_path)
    write(tmp_path, log__csv="1,10\n2,10\n", likes__csv="5,6\n7,8\n")
    with pytest.raises(p.UnknownFormatError, match="several tables"):
        read_source(tmp_path)


def test_numbered_parts_without_header_are_one_table(tmp_path):
    write(tmp_path, **{"part-1__csv": "1,10\n2,10\n", "part-2__csv": "3,11\n"})
    assert pairs(read_source(tmp_path).train) == [(1, 10), (2, 10), (3, 11)]


def test_a_damaged_part_is_not_passed_over(tmp_path):
    write(tmp_path, part1__csv=LOG)
    (tmp_path / "part2.csv").write_bytes(b"user_id,item_id\ncaf\xe9,1\n")
    with pytest.raises(p.EncodingError, match=r"part2.csv:2"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("train.csv", "test.csv"),
        ("log_train.csv", "log_test.csv"),
        ("ml-training-1.csv", "ml-testing-1.csv"),
        ("train/part-0.csv", "test/part-0.csv"),
    ],
)
def test_train_and_test_files_are_what_the_user_means(tmp_path, train, test):
    for name, rows in ((train, "1,10\n1,20\n2,10\n"), (test, "1,30\n2,30\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("user_id,item_id\n" + rows)
    source = read_source(tmp_path)
    assert pairs(source.train) == [(1, 10), (1, 20), (2, 10)] and pairs(source.test) == [(1, 30), (2, 30)]
    assert own_protocol(source) == "files"
    assert pairs(split_interactions(source, own_protocol(source)).test) == [(1, 30), (2, 30)]
    assert own_protocol(read_source(tmp_path / train)) == "resplit"


def test_recbole_folder_finds_titles_and_leaves_graph_and_users_alone(tmp_path):
    write(
        tmp_path,
        toy__inter="user_id:token\titem_id:token\n1\t10\n2\t20\n2\t10\n",
        toy__item="item_id:token\tmovie_title:token_seq\tclass:token_seq\n"
        "10\tToy Story\tAnimation Children's Comedy\n20\tHeat\tCrime\n",
        toy__user="user_id:token\tage:token\n1\t24\n2\t53\n",
        toy__kg="head_id:token\trelation_id:token\ttail_id:token\nm.1\tr.1\tm.2\n",
        toy__link="item_id:token\tentity_id:token\n10\tm.1\n",
    )
    for path in (tmp_path, tmp_path / "toy.inter"):
        source = read_source(path)
        assert source.train.item_info.titles == ["Toy Story", "Heat"]
        assert source.train.item_info.tags == [("Animation", "Children's", "Comedy"), ("Crime",)]
        assert "toy.item names 2 of the 2 items" in source.report.notes
    assert "not read: toy.kg, toy.link, toy.user" in read_source(tmp_path).report.notes
    for name in ("toy.kg", "toy.link", "toy.user", "toy.item"):
        with pytest.raises(p.UnknownFormatError, match=r"holds? no interactions"):
            read_source(tmp_path / name)


def test_a_wrong_file_beside_the_log_is_mentioned_and_does_no_harm(tmp_path):
    write(tmp_path, ratings__csv=LOG, movies__csv="movieId,title\n77,Heat\n")
    source = read_source(tmp_path)
    assert source.train.item_info is None and len(source.train) == 3
    assert any("movies.csv beside the data gives no titles" in note for note in source.report.notes)


ITEMS = IdMap(np.arange(1, 101))
WRONG = {
    "a.user": ("user_id:token\tage:token\tgender:token\n1\t24\tM\n2\t53\tF\n", "describes users"),
    "people.csv": ("user_id,name\n1,Ann\n2,Bob\n", "describes users"),
    "u.user": ("1|24|M|technician\n2|53|F|other\n3|23|M|writer\n", "second column has numbers"),
    "users.dat": ("".join(f"{n}::{'MF'[n % 2]}::1\n" for n in range(1, 60)), "only 2 different texts"),
    "other.csv": (
        "item_id,title\n" + "".join(f"{n},T{n}\n" for n in range(95, 300)),
        "names only 6 of the 100 items",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_table_that_does_not_describe_the_items_is_refused(tmp_path, name):
    text, message = WRONG[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(p.MissingColumnError, match=message):
        read_item_info(tmp_path / name, ITEMS)


def test_part_of_a_catalogue_and_a_catalogue_larger_than_the_log_are_fine(tmp_path):
    (tmp_path / "few.csv").write_text("item_id,title\n1,One\n2,Two\n")
    assert read_item_info(tmp_path / "few.csv", ITEMS).note == "few.csv names 2 of the 100 items"
    (tmp_path / "many.csv").write_text("item_id,title\n" + "".join(f"{n},T{n}\n" for n in range(5000)))
    assert read_item_info(tmp_path / "many.csv", ITEMS).note == "many.csv names 100 of the 100 items"
