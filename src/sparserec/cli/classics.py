"""sparserec classics: popularity, item neighbours, EASE and co-occurrence lists on the same split, to compare with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli import options

if TYPE_CHECKING:
    from sparserec.runs import Record


@options.with_reading
def classics(
    context: typer.Context,
    data: Annotated[str, typer.Argument(help="A named data set (see `sparserec data list`) or a path.")],
    only: Annotated[
        Optional[str],
        typer.Option(
            help="Some of popularity, cosine, rp3beta, ease and co-occurrence, with commas between."
        ),
    ] = None,
    protocol: options.Protocol = None,
    split_seed: Annotated[int, typer.Option(help="Seed of the split; as that of the runs to compare.")] = 0,
    runs: Annotated[Path, typer.Option(help="Where the folders go that `compare` reads.")] = Path("runs"),
    out: Annotated[Optional[Path], typer.Option(help="Result file (JSON lines) to append to.")] = None,
    data_dir: options.DataDir = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure recommenders that need no training; their settings are searched on validation."""
    from sparserec.data import resolve
    from sparserec.experiments import ClassicRun, finished_names, measure_classic
    from sparserec.planning import own_files
    from sparserec.process import use_threads
    from sparserec.progress import say
    from sparserec.runs import RunFolder, append_result
    from sparserec.training import RunConfig

    use_threads(threads)
    reading = options.typed_reading(context)
    source = resolve(data, data_dir, **reading)
    own, notes = own_files(RunConfig(data=data), source)
    if protocol is None and notes:
        say(notes[0], quiet)
    wanted = ClassicRun(data, source, protocol or own.protocol, split_seed, reading, runs, quiet)
    found = {name: measure_classic(name, wanted) for name in _chosen(only, source.train.n_items)}
    for folder, _ in found.values():
        if out is not None and folder.name not in finished_names(out):
            append_result(out, folder.name, RunFolder(folder))
    if as_json:
        typer.echo(
            json.dumps(
                {name: {"run": str(folder), **record.as_dict()} for name, (folder, record) in found.items()}
            )
        )
    else:
        _print(found)


def _chosen(only: str | None, n_items: int) -> list[str]:
    """Classics to run: those that were named, or all that take so many items."""
    from sparserec.classics import CLASSICS
    from sparserec.cli.printing import warn
    from sparserec.encodings import SHOWN, stored_name
    from sparserec.errors import SettingError
    from sparserec.experiments import applicable

    if only is None:
        for name in CLASSICS.keys() - applicable(n_items).keys():
            warn(
                f"{name} is left out: it takes at most {CLASSICS[name].most_items:,} items, here are {n_items:,}"
            )
        return list(applicable(n_items))
    names = [stored_name(name.strip()) for name in only.split(",")]
    for name in names:
        if name not in CLASSICS:
            raise SettingError(
                f"--only {name}: unknown; known: {', '.join(SHOWN.get(one, one) for one in CLASSICS)}"
            )
    return names


def _print(found: dict[str, tuple[Path, Record]]) -> None:
    from sparserec.cli.printing import print_table
    from sparserec.encodings import SHOWN
    from sparserec.units import show_bytes

    rows = []
    for name, (_, record) in found.items():
        settings = ", ".join(f"{key} {value:g}" for key, value in record.base_settings.items())
        rows.append(
            {
                "classic": SHOWN.get(name, name),
                "settings": settings or "-",
                "valid NDCG@20": record.epochs[-1].best_score,
                "test Recall@20": record.test["float"]["recall@20"],
                "test NDCG@20": record.test["float"]["ndcg@20"],
                "int8": show_bytes(record.bytes["int8"]),
            }
        )
    folders = " ".join(str(folder) for folder, _ in found.values())
    print_table(rows, left=("classic", "settings"), notes=[f"against a run: sparserec compare RUN {folders}"])
