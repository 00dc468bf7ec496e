"""Named data sets against a real HTTP server on loopback: progress, cuts, resumption, checksums, archives."""

import hashlib
import io
import json
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import typer
from typer.testing import CliRunner

from sparserec.cli.data import register
from sparserec.data import CATALOGUE, NamedSet, download_folder, get_named, resolve
from sparserec.data.download import download
from sparserec.data.errors import DownloadError, UnknownFormatError, WrongDataError
from sparserec.data.named import RemoteFile, fetch, load_entry, locate
from sparserec.errors import SettingError

TRAIN = "".join(f"{user} {user % 7} {7 + user % 5} {12 + user % 3}\n" for user in range(200)).encode()
TEST = "".join(f"{user} {15 + user % 4}\n" for user in range(200)).encode()


class Server(ThreadingHTTPServer):
    """Serves `files`; `cuts` lists how many bytes to send before dropping each of the next connections."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cuts, self.requests, self.version, self.ranges = {}, [], [], '"one"', True

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.requests.append(wanted)
        body = server.files.get(self.path[1:])
        if body is None:
            self.send_error(404)
            return
        start = 0
        if wanted and server.ranges and self.headers.get("If-Range") == server.version:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        if server.version:
            self.send_header("ETag", server.version)
        self.end_headers()
        end = start + server.cuts.pop(0) if server.cuts else len(body)
        self.wfile.write(body[start:end])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    running = Server()
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("SPARSEREC_DATA", raising=False)


@pytest.fixture
def toy(server):
    server.files = {"train.txt": TRAIN, "test.txt": TEST}
    files = (
        RemoteFile(server.url("train.txt"), "train.txt"),
        RemoteFile(server.url("test.txt"), "test.txt", hashlib.sha256(TEST).hexdigest()),
    )
    parts = {"train": 600, "test": 200}
    return NamedSet("toy-lightgcn", "a toy", "loopback", "none", 200, 19, parts, files, aliases=("toy",))


def test_fetch_load_and_cache(toy, server):
    source = load_entry(toy, quiet=True)
    assert source.report.parts == {"train": 600, "test": 200}
    assert any("unverified" in note for note in source.report.notes)
    assert locate(toy) == download_folder() / "toy-lightgcn"
    count = len(server.requests)
    load_entry(toy, quiet=True)
    assert len(server.requests) == count == 2
    recorded = json.loads((download_folder() / "toy-lightgcn" / "fetched.json").read_text())
    assert recorded["train.txt"]["sha256"] == hashlib.sha256(TRAIN).hexdigest()


def test_a_cut_connection_is_continued(toy, server, tmp_path):
    server.cuts = [1000, 500]
    digest = download(toy.files[0], tmp_path, quiet=True, wait=0.01)
    assert digest == hashlib.sha256(TRAIN).hexdigest() and (tmp_path / "train.txt").read_bytes() == TRAIN
    assert server.requests == [None, "bytes=1000-", "bytes=1500-"]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["train.txt"]


def test_a_failed_download_leaves_no_final_file_and_continues_later(toy, server, tmp_path):
    server.cuts = [700, 0]
    with pytest.raises(DownloadError, match=r"cut after 700 of .* bytes \(2 attempts\).*continues from"):
        download(toy.files[0], tmp_path, quiet=True, attempts=2, wait=0.01)
    assert not (tmp_path / "train.txt").exists()
    download(toy.files[0], tmp_path, quiet=True)
    assert (tmp_path / "train.txt").read_bytes() == TRAIN and server.requests[-1] == "bytes=700-"


@pytest.mark.parametrize("change", ["new version", "no ranges", "no mark"])
def test_what_cannot_be_continued_starts_over(toy, server, tmp_path, change):
    server.cuts = [700]
    if change == "no mark":
        server.version = ""
    with pytest.raises(DownloadError):
        download(toy.files[0], tmp_path, quiet=True, attempts=1)
    if change == "new version":
        server.version, server.files["train.txt"] = '"two"', TRAIN[::-1]
    server.ranges = change != "no ranges"
    download(toy.files[0], tmp_path, quiet=True)
    assert (tmp_path / "train.txt").read_bytes() == server.files["train.txt"]


def test_a_wrong_checksum_keeps_nothing(toy, server, tmp_path):
    server.files["test.txt"] = TEST.replace(b"15", b"16")
    with pytest.raises(
        DownloadError, match=f"wrong checksum, expected {toy.files[1].sha256}, got [0-9a-f]{{64}}"
    ):
        download(toy.files[1], tmp_path / "new", quiet=True)
    assert list((tmp_path / "new").iterdir()) == []


def test_missing_files_and_dead_servers_are_named(server, tmp_path):
    with pytest.raises(DownloadError, match=r"gone.txt: the server says 404"):
        download(RemoteFile(server.url("gone.txt"), "gone.txt"), tmp_path, quiet=True)
    with pytest.raises(DownloadError, match=r"connection failed .* \(2 attempts\)"):
        download(RemoteFile("http://127.0.0.1:9/x", "x"), tmp_path, quiet=True, attempts=2, wait=0.01)


def test_a_folder_that_cannot_be_written_is_named(toy, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DownloadError, match="cannot be written"):
        download(toy.files[0], tmp_path / "file", quiet=True)


def test_archives_give_their_named_members_only(server, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("ml/u.data", "1\t5\t3\t100\n1\t6\t4\t200\n2\t5\t5\t300\n")
        archive.writestr("ml/u.item", "5|Caf\xe9 (1994)|x\n6|Six|x\n".encode("latin-1"))
        archive.writestr("../evil.txt", "no")
    server.files["ml.zip"] = packed.getvalue()
    file = RemoteFile(server.url("ml.zip"), "ml.zip", members={"ml/u.data": "u.data", "ml/u.item": "u.item"})
    entry = NamedSet("ml", "films", "loopback", "none", 2, 2, {"train": 3}, (file,))
    source = load_entry(entry, tmp_path, quiet=True)
    assert source.train.item_info.titles == ["Café (1994)", "Six"]
    assert sorted(path.name for path in (tmp_path / "ml").iterdir()) == ["fetched.json", "u.data", "u.item"]
    assert len(load_entry(entry, tmp_path, min_rating=4).train) == 2
    server.files["ml.zip"] = b"not a zip"
    with pytest.raises(DownloadError, match="not the expected archive"):
        fetch(entry, tmp_path / "again", quiet=True)


def test_files_already_there_are_recognised(toy, tmp_path, monkeypatch):
    def put(folder, train=TRAIN):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "train.txt").write_bytes(train)
        (folder / "test.txt").write_bytes(TEST)

    put(tmp_path / "shared" / "toy")
    monkeypatch.setenv("SPARSEREC_DATA", str(tmp_path / "shared"))
    assert locate(toy) == tmp_path / "shared" / "toy"
    put(tmp_path / "plain")
    assert locate(toy, tmp_path / "plain") == tmp_path / "plain"
    known = {"train": load_entry(toy).train.pair_hash()}
    sorted_back = b"\n".join(
        b" ".join([*line.split()[:1], *line.split()[:0:-1]]) for line in TRAIN.splitlines()
    )
    put(tmp_path / "other order" / "toy", sorted_back)
    assert load_entry(replace(toy, pair_hashes=known), tmp_path / "other order").report.parts["train"] == 600
    put(tmp_path / "other pairs" / "toy", TRAIN.replace(b"0 0 7 12", b"0 1 7 12"))
    with pytest.raises(WrongDataError, match="train pairs are not those of toy-lightgcn"):
        load_entry(replace(toy, pair_hashes=known), tmp_path / "other pairs")
    put(tmp_path / "variant" / "toy", TRAIN + b"900 1 2\n")
    with pytest.raises(WrongDataError, match=r"not toy-lightgcn: expected users 200, .*found users 201"):
        load_entry(toy, tmp_path / "variant")


def test_names_and_paths(tmp_path):
    assert resolve("world").train.n_users == 3000
    (tmp_path / "log.csv").write_text("user,item\na,b\n")
    assert len(resolve(tmp_path / "log.csv").train) == 1
    with pytest.raises(UnknownFormatError, match="did you mean 'gowalla'"):
        resolve("gowala")
    with pytest.raises(DownloadError, match="sparserec data fetch movielens-1m"):
        load_entry(get_named("ml-1m"), download=False)
    with pytest.raises(SettingError, match="built in"):
        load_entry(get_named("world"), core=5)
    with pytest.raises(SettingError, match="nothing to fetch"):
        fetch(CATALOGUE["world"])


def test_download_folder_is_in_the_cache(tmp_path):
    assert download_folder() == tmp_path / "cache" / "sparserec" / "data"


def test_names_are_unambiguous():
    words = [word for entry in CATALOGUE.values() for word in (entry.name, *entry.aliases)]
    assert len(words) == len(set(words))


def run(*arguments):
    app = typer.Typer()
    register(app)
    result = CliRunner().invoke(app, ["data", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_command_line(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, toy.name, toy)
    assert "toy-lightgcn" in run("list") and "not fetched" in run("list")
    shown = run("fetch", "toy")
    assert f"{hashlib.sha256(TRAIN).hexdigest()}  train.txt  (unverified)" in shown
    assert f"{toy.files[1].sha256}  test.txt\n" in shown
    listed = {row["name"]: row for row in json.loads(run("list", "--json"))}
    assert listed["toy-lightgcn"]["here"] == str(download_folder() / "toy-lightgcn")
    assert "interactions  800 (train 600, test 200)" in run("describe", "toy")
    (tmp_path / "log.csv").write_text("a,b,c\nx,1,5\ny,1,2\n")
    arguments = ["--user-col", "a", "--item-col", "b", "--rating-col", "c", "--min-rating", "3"]
    told = json.loads(run("describe", str(tmp_path / "log.csv"), *arguments, "--json"))
    assert (
        told["interactions"] == 1
        and told["dropped"] == {"rating below 3": 1}
        and len(told["pair_hash"]) == 64
    )
    assert json.loads(run("fetch", "toy", "--json"))["folder"].endswith("toy-lightgcn")


def test_downloads_follow_the_folder_that_doctor_names(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "elsewhere"))
    assert download_folder() == tmp_path / "elsewhere" / "data"
