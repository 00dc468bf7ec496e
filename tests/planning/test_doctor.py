"""The doctor: each thing it may find wrong, and a whole examination of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparserec.planning import doctor
from sparserec.planning.doctor import (
    Finding,
    examine,
    least_versions,
    load_finding,
    multiply_speed,
    thread_finding,
    version_key,
    versions,
    writable,
)


def test_this_machine_can_be_examined() -> None:
    found = {one.name: one for one in examine()}
    assert {
        "python",
        "torch",
        "numba",
        "cores",
        "torch threads",
        "multiply",
        "compiled loops",
        "free memory",
    } <= set(found)
    assert "GFLOP/s" in found["multiply"].value
    assert all(one.advice for one in found.values() if one.state != "ok")


def test_the_multiply_has_a_speed() -> None:
    assert multiply_speed() > 0.01


def test_more_threads_than_cores() -> None:
    assert thread_finding("torch threads", 8, 2) == Finding(
        "torch threads", "8", "warning", "more than the 2 usable cores: set `threads` to 2"
    )
    assert thread_finding("torch threads", 2, 2) == Finding("torch threads", "2")
    assert "4 cores could be used" in thread_finding("torch threads", 1, 4).advice


def test_busy_cores() -> None:
    assert load_finding(1.0, 2).state == "ok"
    assert load_finding(7.5, 2).state == "warning"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert writable("cache folder", tmp_path / "file" / "inside").state == "wrong"
    assert writable("cache folder", tmp_path / "made").state == "ok"
    assert doctor.compiled_cache(tmp_path) == Finding("compiled loops", str(tmp_path))
    assert "NUMBA_CACHE_DIR" in doctor.compiled_cache(None).advice


def test_old_and_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [
        "numpy>=999.1",
        "torch>=2.0",
        "no-such-package>=1",
        "pytest>=8; extra == 'dev'",
        "rich>=13; extra == 'train'",
        "typer",
    ]
    assert least_versions(wanted) == {"numpy": "999.1", "torch": "2.0", "no-such-package": "1", "rich": "13"}
    monkeypatch.setattr(doctor, "least_versions", lambda: least_versions(wanted))
    found = {one.name: one for one in versions()}
    assert found["numpy"].state == "wrong" and "999.1" in found["numpy"].advice
    assert found["torch"].state == "ok"
    assert (found["no-such-package"].value, found["no-such-package"].state) == ("missing", "wrong")


def test_versions_compare_as_numbers() -> None:
    assert version_key("2.13.0+cpu") > version_key("2.5") > version_key("1.26.4") > version_key("1.4rc1")


def test_our_own_requirements_are_known() -> None:
    assert {"torch", "numpy", "numba"} <= set(least_versions())
