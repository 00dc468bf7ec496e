"""Break one line of the code at a time, run the tests near it, list what no test noticed.

    python tests/mutants.py [--only WORD ..] [--report docs/mutants.md]

tests/mutants.toml holds the breaks: a file below src/sparserec, the text that is there, what it becomes, and the tests
that should notice, which must pass without a break. Each is tried on a copy of the source, so the working tree is never
touched. A text that is not found exactly once is an error: the list must follow the code.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST_SECONDS = 600
"""Of processor time: on a busy machine a test that is merely slow has noticed nothing."""

NOTHING_RUN = (4, 5)
"""What pytest ends with when it does not find the tests: nobody has noticed anything."""


@dataclass(frozen=True)
class Mutant:
    """One deliberate error."""

    what: str
    file: str
    old: str
    new: str
    tests: list[str]
    lives: str = ""
    """Why it may live: the reason, where no test can or should notice."""


def read_mutants(path: Path) -> list[Mutant]:
    """All breaks of the list, checked against the code."""
    mutants = [Mutant(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]
    for mutant in mutants:
        found = (ROOT / "src/sparserec" / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if found != 1:
            raise SystemExit(f"{mutant.what}: its text stands {found} times in {mutant.file}, not once")
    return mutants


def survives(mutant: Mutant, source: Path) -> bool:
    """Whether the tests near the break pass in spite of it; `source` is a copy of src, whole again afterwards.

    One copy serves all, so that compiled loops of files that are not broken come from its cache.
    """
    file = source / "sparserec" / mutant.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        done = run_tests(
            mutant.tests, source, LONGEST_SECONDS
        )  # one that no longer ends has noticed: it is killed
    finally:
        file.write_text(text, encoding="utf-8")
    if done.returncode in NOTHING_RUN:
        raise SystemExit(f"{mutant.what}: its tests cannot be run\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def run_tests(
    tests: Sequence[str], source: Path, seconds: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run tests on a source tree until one fails, for at most so many seconds of processor time."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(source)}

    def limit() -> None:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, preexec_fn=limit
    )


def check_unbroken(mutants: list[Mutant], source: Path) -> None:
    """Tests that fail without any error of ours would seem to notice every one."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    done = run_tests(tests, source)
    if done.returncode != 0:
        raise SystemExit(f"the tests fail as it is, so they would notice nothing\n{done.stdout[-3000:]}")


def report(tried: list[tuple[Mutant, bool]], listed: int) -> str:
    """What was tried as a page, and how much of the list that is."""
    lines = [
        "# Deliberate errors and the tests that notice them",
        "",
        f"Made by `python tests/mutants.py`, which tried {len(tried)} of the {listed} errors in `tests/mutants.toml`: "
        f"{sum(not alive for _, alive in tried)} are noticed.",
        "",
        "| what is broken | file | noticed |",
        "|---|---|---|",
    ]
    for mutant, alive in tried:
        noticed = (mutant.lives or "**no**") if alive else "yes"
        lines.append(f"| {mutant.what} | {mutant.file} | {noticed} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only breaks whose description or file contains one of these"
    )
    parser.add_argument("--report", type=Path, help="write the list to this Markdown file")
    arguments = parser.parse_args()
    listed = read_mutants(ROOT / "tests/mutants.toml")
    chosen = [
        mutant
        for mutant in listed
        if any(word in mutant.what or word in mutant.file for word in arguments.only)
    ]
    if not chosen:
        raise SystemExit(f"nothing in the list has any of {', '.join(arguments.only)}")
    tried = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.pyc"))  # compiled loops stay
        check_unbroken(chosen, source)
        for mutant in chosen:
            alive = survives(mutant, source)
            print(f"{'LIVES ' if alive else 'caught'}  {mutant.file}: {mutant.what}", flush=True)
            tried.append((mutant, alive))
    if arguments.report:
        arguments.report.write_text(report(tried, len(listed)), encoding="utf-8")
    return int(any(alive and not mutant.lives for mutant, alive in tried))


if __name__ == "__main__":
    sys.exit(main())
