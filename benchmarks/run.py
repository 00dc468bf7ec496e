"""make bench: ours and the usual implementations, each in its own process on the same data, and one table of ratios.

SPARSEREC_DATA names a folder with gowalla/. PyTorch Geometric is measured when .venv-bench has it (see README.md).
Results are printed and written to benchmarks/results.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PYG_PYTHON = HERE.parent / ".venv-bench" / "bin" / "python"


def measure(python: str | Path, script: str, *arguments: str) -> dict[str, Any] | None:
    """One benchmark in its own process; None, with the reason printed, when it cannot run."""
    # Idle threads sleep, as under the `sparserec` command: torch and numba have a pool each, and two that spin fight.
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "PYTHONPATH": str(HERE.parent / "src")}
    command = [str(python), "-W", "ignore", str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{script} {' '.join(arguments)}: not measured ({last})", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def steps(data: Path, count: int) -> list[dict[str, Any]]:
    """Triples per second and memory of everybody."""
    common = ("--data", str(data), "--steps", str(count))
    few = ("--data", str(data), "--steps", str(max(2, count // 5)))
    found = [
        measure(sys.executable, "ours.py", *common),
        measure(sys.executable, "ours.py", *common, "--mode", "dense"),
        measure(sys.executable, "textbook.py", *few),
    ]
    if PYG_PYTHON.exists():
        found.append(measure(PYG_PYTHON, "pyg_lightgcn.py", *few, "--mode", "csr"))
        found.append(
            measure(
                PYG_PYTHON, "pyg_lightgcn.py", "--data", str(data), "--steps", "2", "--mode", "edge_index"
            )
        )
    else:
        print(
            "PyTorch Geometric: not measured (no .venv-bench; benchmarks/README.md says how)", file=sys.stderr
        )
    return [line for line in found if line is not None]


def print_steps(lines: list[dict[str, Any]]) -> None:
    ours = lines[0]
    print(
        f"{'':24} {'step s':>8} {'triples/s':>10} {'epoch s':>8} {'peak MB: read':>14} {'build':>7} "
        f"{'train':>7} {'we are':>8} {'memory':>8}"
    )
    for line in lines:
        peak = line["peak_mb"]
        faster = line["step_seconds"] / ours["step_seconds"]
        smaller = peak["train"] / ours["peak_mb"]["train"]
        print(
            f"{line['name']:24} {line['step_seconds']:8.3f} {line['triples_per_second']:10,} "
            f"{line['epoch_seconds']:8.1f} "
            f"{peak['read']:14.0f} {peak['build']:7.0f} {peak['train']:7.0f} {faster:7.1f}x {smaller:7.1f}x"
        )


def print_split(found: dict[str, Any]) -> None:
    print(f"where the time of a step goes, {found['name'].removeprefix('profile ')} (ms):")
    for name, seconds in sorted(found["split_seconds"].items(), key=lambda pair: -pair[1]):
        print(f"  {name:24} {1000 * seconds:7.1f}")


def print_profile(found: dict[str, Any]) -> None:
    print()
    print_split(found)
    share = found["outside_multiply_over_2L_wide_products"]
    print(f"outside the multiply: {share:.2f} of 2L wide products (bar 0.20)")
    print(f"exploration: {found['explore_seconds'] / found['step_seconds']:.2f} steps (bar 3)")
    print(f"full ranking of all users: {found['evaluate_all_users_seconds']:.1f} s (bar 20)")


def base_steps(data: Path, count: int) -> list[dict[str, Any]]:
    """Each base beside plain PyTorch, and beside our LightGCN step of the same batch, one after the other."""
    found = []
    for base, batch, layers in (("xsimgcl", "2048", "3"), ("mgdcf", "8000", "4")):
        common = ("--data", str(data), "--steps", str(count), "--batch", batch)
        few = ("--data", str(data), "--steps", str(max(2, count // 10)), "--batch", batch, "--layers", layers)
        lines = {
            "lightgcn": measure(sys.executable, "ours.py", *common),
            "ours": measure(sys.executable, "ours.py", *common, "--base", base, "--layers", layers),
            "plain": measure(sys.executable, "plain_bases.py", *few, "--base", base),
            "split": measure(
                sys.executable,
                "profile_step.py",
                *common,
                "--base",
                base,
                "--layers",
                layers,
                "--mode",
                "steps",
            ),
        }
        if all(line is not None for line in lines.values()):
            found.append({"base": base, "batch": int(batch), **lines})
    return found


def print_base(found: dict[str, Any]) -> None:
    ours, plain, lightgcn = found["ours"], found["plain"], found["lightgcn"]
    print(f"\n{found['base']}, batch {found['batch']}: step {ours['step_seconds']:.3f} s, ", end="")
    print(
        f"{ours['step_seconds'] / lightgcn['step_seconds']:.2f} LightGCN steps (bar 2.5); plain PyTorch ",
        end="",
    )
    print(
        f"{plain['step_seconds']:.3f} s, {plain['step_seconds'] / ours['step_seconds']:.1f} times ours; ",
        end="",
    )
    print(f"peak {ours['peak_mb']['train']:.0f} MB against {plain['peak_mb']['train']:.0f} MB")
    print_split(found["split"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SPARSEREC_DATA", ".")) / "gowalla")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument(
        "--sizes", action="store_true", help="also cost against size: 0.1M, 1M and 10M interactions"
    )
    options = parser.parse_args()
    if not (options.data / "train.txt").exists():
        raise SystemExit(
            f"{options.data}: no train.txt; set SPARSEREC_DATA to the folder that holds gowalla/"
        )
    results: dict[str, Any] = {"steps": steps(options.data, options.steps)}
    print_steps(results["steps"])
    profile = measure(
        sys.executable, "profile_step.py", "--data", str(options.data), "--steps", str(options.steps)
    )
    if profile is not None:
        results["profile"] = profile
        print_profile(profile)
    results["bases"] = base_steps(options.data, options.steps)
    for found in results["bases"]:
        print_base(found)
    reading = measure(sys.executable, "reading.py")
    if reading is not None:
        results["reading"] = reading
        print(
            "\nreading 1M interactions: "
            + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in reading.items())
            + " (bar 3 s)"
        )
    if options.sizes:
        results["sizes"] = [measure(sys.executable, "sizes.py", size) for size in ("0.1", "1", "10")]
        for line in results["sizes"]:
            print(line)
    (HERE / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
