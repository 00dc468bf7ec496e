"""Nothing half-written is ever seen under the final name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sparserec.errors import RunError
from sparserec.files import cache_folder, replacing, write_text


def test_content_appears_under_the_final_name_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.bin"
    with replacing(path) as temporary:
        temporary.write_bytes(b"new")
        assert temporary.parent == path.parent  # a rename inside one folder is atomic
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_content_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that outlives a power cut must not lead to nothing."""
    synced: list[tuple[bytes, bool]] = []
    path = tmp_path / "file.txt"
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append((os.read(descriptor, 9), path.exists()))
    )
    write_text(path, "new")
    assert synced == [(b"new", False)] and path.read_text() == "new"


def test_a_failure_leaves_the_old_file_and_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError, match="midway"), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("midway")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_wrote_nothing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert not path.exists()


def test_text_is_utf8(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "Käse ✓")
    assert (tmp_path / "a").read_bytes() == "Käse ✓".encode()


def test_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEREC_CACHE", str(tmp_path / "c"))
    assert cache_folder() == tmp_path / "c"
    monkeypatch.delenv("SPARSEREC_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_folder() == tmp_path / "x" / "sparserec"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the folder is found in other ways")
def test_a_user_without_a_home_is_told_what_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may run as a number that no list of users has."""
    import pwd

    def unknown(number: int) -> None:
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME", "SPARSEREC_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(RunError, match="set SPARSEREC_CACHE"):
        cache_folder()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "sparserec"
