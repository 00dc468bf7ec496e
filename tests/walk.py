"""Which files and functions of ours a command enters: `python tests/walk.py train log.csv` prints them by package.

Functions are those with a name of their own; what other processes do, and what other threads do, is not ours to count.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import sparserec
from sparserec.cli import main

SOURCE = Path(sparserec.__file__).parent
FUNCTION = 1
"""The flag that code of functions has and code of modules and classes has not (inspect.CO_OPTIMIZED)."""


def entered(*words: str) -> list[tuple[str, str]]:
    """(file, function) of everything that one command enters, in the order of the first time."""
    seen: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen.setdefault(frame.f_code)

    before = sys.getprofile()
    with mock.patch.object(sys, "argv", ["sparserec", *words]):
        sys.setprofile(note)
        try:
            main()
        except SystemExit as ended:
            assert not ended.code, ended.code
        finally:
            sys.setprofile(before)
    ours = [
        code for code in seen if Path(code.co_filename).is_relative_to(SOURCE) and code.co_flags & FUNCTION
    ]
    return [
        (Path(code.co_filename).relative_to(SOURCE).as_posix(), code.co_qualname)
        for code in ours
        if not code.co_name.startswith("<")
    ]


def files_of(steps: list[tuple[str, str]]) -> set[str]:
    """The files among them."""
    return {file for file, _ in steps}


if __name__ == "__main__":
    found = entered(*sys.argv[1:])
    functions = Counter(Path(file).parts[0] if "/" in file else "." for file, _ in found)
    files = Counter(Path(file).parts[0] if "/" in file else "." for file in files_of(found))
    for package in sorted(files):
        print(f"{package:15}{files[package]:5} files{functions[package]:5} functions")
    print(f"{len(files_of(found))} files, {len(found)} functions")
