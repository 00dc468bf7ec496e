"""Fuzz the Python reader: `python benchmarks/fuzz_python.py --seed 0 --count 100000`, or fewer with `--coverage`.

Every mutant must either be refused with a named error or load and answer questions with finite scores; within two
seconds of processor time, within an address space little larger than at the start, and (on a sample, because tracing is
slow) without allocating beyond what docs/format.md says and a few vectors.
"""

from __future__ import annotations

import argparse
import math
import resource
import signal
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import sparserec.device
from sparserec.device import DeviceError, loads
from sparserec.device.errors import SelfTestFailed
from sparserec.device.memory_limit import CONSTANT, FACTOR

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))
from mutate import FOLDERS, Mutant, mutants

DEVICE = Path(sparserec.device.__file__).parent
SECONDS = 2.0
MEMORY_FACTOR, MEMORY_CONSTANT = (
    FACTOR,
    CONSTANT + (4 << 20),
)  # besides: vectors of 65,536 columns, and scratch
ADDRESS_SPACE = (
    128 << 20
)  # what the process may grow by altogether: one huge array in any mutant is a finding
PROGRESS = 50_000
CO_OPTIMIZED = 1
WRITER_ONLY = {"writer.py", "encode.py", "__init__.py"}
WRITER_FUNCTIONS = {
    "row_scales",
    "make_codes",
    "quantise_rows",
    "dequantise",
    "fake_quantise",
    "fake_quantise_flat",
    "keep_largest",
    "sparse_rows",
    "rows_of_entries",
    "nbytes",
    "encode_table",
    "decode_table",
    "_starts",
    "_smallest",
    "_count_tensor",
    "_layout",
    "pack_nibbles",
    "encode_graph",
    "smallest_counts",
    "best_widths",
    "_descend",
    "_extra_bits",
    "_width_moves",
    "serialise",
    "seal",
    "text_tensors",
    "pack_bits",
    "pack_levels",
    "level_tensors",
    "nearest_levels",
    "count_levels",
    "_ladder",
    "_rungs",
    "ratio_levels",
    "encode_gaps",
    "encode_classes",
    "code_lengths",
    "_huffman",
    "_bit_lengths",
    "of",
    "tensors",
    "weights",
    "_nearest_counts",
    "id_tensors",
    "_integer_tensors",
    "open_container",
    "load",
}


@dataclass
class Findings:
    """What a run saw."""

    outcomes: Counter[str] = field(default_factory=Counter)
    resealed: int = 0
    answered: int = 0
    problems: list[str] = field(default_factory=list)
    slowest: float = 0.0
    largest: float = 0.0  # highest peak as a multiple of what is allowed
    lines: set[tuple[str, int]] = field(default_factory=set)


class TooSlow(Exception):
    """A mutant took longer than it may."""


@contextmanager
def guarded() -> Iterator[None]:
    """No mutant may run for long, ask for much address space or compute with overflow."""

    def too_slow(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, too_slow)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE, hard))
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def fuzz(
    seed: int, count: int, sample: int = 50, coverage: bool = False, folders: Sequence[Path] = FOLDERS
) -> Findings:
    """Run `count` mutants; every `sample`-th with memory measured; all others with lines traced where coverage is asked
    for.
    """
    findings = Findings()
    with guarded():
        for number, mutant in enumerate(mutants(seed, count, folders)):
            findings.resealed += mutant.resealed
            measured = number % sample == 0
            run_one(findings, mutant, measured, traced=coverage and not measured)
            if (number + 1) % PROGRESS == 0:
                print(f"{number + 1:,} mutants, {len(findings.problems)} problems", flush=True)
    return findings


def run_one(findings: Findings, mutant: Mutant, measured: bool, traced: bool) -> None:
    """One mutant under a clock, and under a memory or line tracer where asked."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS * (10 if measured or traced else 1))
    began = time.process_time()
    if measured:
        tracemalloc.start()
    if traced:
        sys.settrace(line_tracer(findings.lines))
    try:
        outcome = ask(mutant.data)
    except Exception as error:
        outcome = f"PROBLEM {type(error).__name__}"
        findings.problems.append(f"{mutant.source} {mutant.mutations}: {type(error).__name__}: {error}")
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if measured:
        share = tracemalloc.get_traced_memory()[1] / (MEMORY_FACTOR * len(mutant.data) + MEMORY_CONSTANT)
        tracemalloc.stop()
        findings.largest = max(findings.largest, share)
        if share > 1:
            findings.problems.append(
                f"{mutant.source} {mutant.mutations}: {share:.1f} times the memory allowed"
            )
    if not measured and not traced:
        findings.slowest = max(findings.slowest, time.process_time() - began)
    findings.outcomes[outcome] += 1
    findings.answered += outcome in ("ok", "ok, self-test failed")


def ask(data: bytes) -> str:
    """Load a file and ask it everything; returns the name of the error if it is refused."""
    try:
        model = loads(data)
    except DeviceError as error:
        return type(error).__name__
    ids = [model.ids[index] for index in range(min(model.profile.items, 4))]
    answers: list[Any] = model.recommend(history=ids[:3], k=5) + model.recommend(history=[], k=3)
    answers += model.recommend(
        history=ids, weights=[1.0, -1.0, 0.5, 2.0][: len(ids)], k=3, exclude_seen=False
    )
    answers += model.similar(ids[-1], k=3) + [model.explain(ids[:2], ids[-1])]
    answers += model.recommend(history=ids[:1], k=3, allow=ids[:3], deny=ids[-1:], exclude=ids[1:2])
    if model.tags is not None and len(model.tags.names):
        answers += model.recommend(history=ids[:2], k=3, tags=[model.tags.names[0]])
    if model.profile.mode == "personal":
        answers += model.recommend(k=3)
    if model.user_ids is not None:
        answers += model.recommend(user=model.user_ids[0], k=3)
    if not all(math.isfinite(answer.score) for answer in answers):
        raise ValueError("a score is not finite")
    model.card()
    try:
        model.self_test()
    except SelfTestFailed:
        return "ok, self-test failed"
    return "ok"


def line_tracer(lines: set[tuple[str, int]]) -> Any:
    """A trace function that notes the lines of the device package."""
    folder = str(DEVICE)

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(folder):
            return None
        if event == "line":
            lines.add((file, frame.f_lineno))
        return trace

    return trace


def lines_of_reader(path: Path) -> set[int]:
    """Lines inside functions of a module, those that only the writer uses left out."""
    found: set[int] = set()

    def walk(code: CodeType) -> None:
        if code.co_name in WRITER_FUNCTIONS:
            return
        if code.co_flags & CO_OPTIMIZED:  # functions, not module or class bodies, which run at import
            found.update(line for _, _, line in code.co_lines() if line and line != code.co_firstlineno)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                walk(constant)

    walk(compile(path.read_text(encoding="utf-8"), str(path), "exec"))
    return found


def report_coverage(lines: set[tuple[str, int]]) -> None:
    """Lines of the reader that ran, by file, and those that did not."""
    total = ran = 0
    for path in sorted(DEVICE.glob("*.py")):
        possible = lines_of_reader(path)
        if not possible or path.name in WRITER_ONLY:
            continue
        missed = sorted(line for line in possible if (str(path), line) not in lines)
        total, ran = total + len(possible), ran + len(possible) - len(missed)
        never = f"  never {', '.join(map(str, missed))}" if missed else ""
        print(f"{path.name:14} {len(possible) - len(missed):4} of {len(possible):4} lines{never}")
    print(f"lines of the Python reader run: {ran} of {total}, {ran / total:.1%}")


def report(findings: Findings, count: int) -> None:
    """Counts per outcome, limits and problems."""
    for outcome, times in findings.outcomes.most_common():
        print(f"{times:9,}  {outcome}")
    print(f"{findings.resealed / count:.1%} resealed, {findings.answered:,} loaded and answered")
    print(
        f"slowest {findings.slowest * 1e3:.0f} ms, largest peak {findings.largest:.0%} of the memory allowed"
    )
    for problem in findings.problems[:20]:
        print("PROBLEM", problem)
    print(f"{len(findings.problems)} problems in {count:,} mutants")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--sample", type=int, default=50, help="every how many mutants memory is traced")
    parser.add_argument("--coverage", action="store_true", help="print the reader's lines that ran (slow)")
    parser.add_argument("--newest", action="store_true", help="only of what the latest version added")
    chosen = parser.parse_args()
    began = time.process_time()
    folders = FOLDERS[-1:] if chosen.newest else FOLDERS
    findings = fuzz(chosen.seed, chosen.count, chosen.sample, chosen.coverage, folders)
    if chosen.coverage:
        report_coverage(findings.lines)
    report(findings, chosen.count)
    print(f"{chosen.count / (time.process_time() - began):,.0f} mutants per second of processor time")
    sys.exit(1 if findings.problems else 0)


if __name__ == "__main__":
    main()
