"""The list of deliberate errors follows the code: every text it breaks is there exactly once, every test it names
exists.
"""

from __future__ import annotations

from mutants import ROOT, read_mutants


def test_the_list_of_deliberate_errors_fits_the_code() -> None:
    listed = read_mutants(ROOT / "tests/mutants.toml")
    assert len(listed) >= 44
    assert [test for mutant in listed for test in mutant.tests if not exists(test)] == []
    assert len({mutant.what for mutant in listed}) == len(listed)


def exists(test: str) -> bool:
    """A file or folder of tests, or one test in a file."""
    path, _, name = test.partition("::")
    return (ROOT / path).exists() and (
        not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
    )
