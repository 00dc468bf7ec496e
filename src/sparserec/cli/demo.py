"""sparserec demo: three models of the built-in city in about two minutes, side by side, and what one
of them suggests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from sparserec.cli.options import AsJson

if TYPE_CHECKING:
    from sparserec.serving import Model

COMMON = {
    "data": "world",
    "dim": 64,
    "density": 0.125,
    "recipe": {"epochs": 40, "batch_size": 2000, "validate_every": 10},
}
TRAINED: dict[str, dict[str, Any]] = {
    "sparserec": {"method": "sparserec", "method_settings": {"nmf_iterations": 20}},
    "dense": {"method": "dense"},
    "small_dense": {"method": "small_dense"},
}
ABOUT = {
    "sparserec": "an eighth of the table, chosen while training",
    "dense": "the whole table",
    "small_dense": "an eighth of the columns",
}
USER = "u0042"
POLL_SECONDS = 0.3


def demo(
    folder: Annotated[Path, typer.Option(help="Where the three runs go.")] = Path("runs/demo"),
    again: Annotated[bool, typer.Option("--again", help="Train anew what was trained before.")] = False,
    epochs: Annotated[Optional[int], typer.Option(help="Shorter or longer than the default.")] = None,
    base: Annotated[str, typer.Option(help="Base recommender.")] = "lightgcn",
    as_json: AsJson = False,
) -> None:
    """Train SparseRec, a dense and a small dense table on the built-in city and compare them."""
    import sparserec

    folder = folder if base == "lightgcn" else folder / base
    records = [_train(name, folder, again, epochs, base) for name in TRAINED]
    model = sparserec.load(folder / "sparserec")
    suggested = model.recommend(user=USER, k=5)
    page = _write_page(folder)
    if as_json:
        answer = {
            "runs": records,
            "user": USER,
            "recommendations": suggested.as_dict()["items"],
            "page": str(page),
        }
        typer.echo(json.dumps(answer))
        return
    _print_runs(records, base)
    _print_user(model, suggested)  # type: ignore[arg-type]
    typer.echo(
        f"\nThe recommender as one offline page ({page.stat().st_size / 1e3:.0f} kB), open it in a browser:\n"
        f"  {page.resolve()}\n"
        f"\nTry: sparserec recommend {folder / 'sparserec'} --user {USER} --explain\n"
        f"     sparserec compare {folder / 'dense'} {folder / 'sparserec'} {folder / 'small_dense'}\n"
        f"     sparserec train my_log.csv"
    )


def _write_page(folder: Path) -> Path:
    """The sparse model as a device file and as a page that needs nothing else."""
    from sparserec.export import ExportOptions, export_run, write_page
    from sparserec.runs import open_run

    file, page = folder / "city.srec", folder / "city.html"
    export_run(open_run(folder / "sparserec"), file, ExportOptions())
    write_page(page, file, "Places to go")
    return page


def _train(name: str, folder: Path, again: bool, epochs: int | None, base: str) -> dict[str, Any]:
    """One run in a process of its own, so that its peak memory is its own; a finished one is used as it is."""
    from sparserec.files import write_text
    from sparserec.runs import RunFolder

    run = RunFolder(folder / name)
    settings = json.loads(json.dumps(COMMON | TRAINED[name] | {"base": base}))
    if epochs is not None:
        settings["recipe"]["epochs"] = epochs
    if again and run.begun:
        shutil.rmtree(run.path)
    write_text(folder / f"{name}.json", json.dumps(settings))
    if run.finished:
        print(f"{name}: trained before (--again repeats it)", file=sys.stderr)
    else:
        print(f"{name}: {ABOUT[name]}", file=sys.stderr)
        _train_child(name, folder, settings["recipe"]["epochs"])
    return {"run": name, **run.read_record().as_dict()}


def _train_child(name: str, folder: Path, epochs: int) -> None:
    """Start the process and show how far it is by reading the events it writes."""
    from sparserec.errors import TrainingError
    from sparserec.progress import progress
    from sparserec.runs import RunFolder

    run, log = RunFolder(folder / name), folder / f"{name}.log"
    command = [sys.executable, "-m", "sparserec.runs.child"]
    # One thread: on data this small a second one mostly waits for the first.
    command += [str(folder / f"{name}.json"), str(folder / name), "", "1"]
    with log.open("w", encoding="utf-8") as file, progress(f"  {name}", epochs) as bar:
        child = subprocess.Popen(command, stdout=file, stderr=file)
        done = 0
        try:
            while child.poll() is None:
                time.sleep(POLL_SECONDS)
                ended = [event for event in run.read_events() if event["event"] == "epoch"]
                bar.advance(len(ended) - done, f"loss {ended[-1]['loss']:.3f}" if ended else "reading")
                done = len(ended)
        except BaseException:
            child.terminate()
            child.wait()
            raise
    if child.returncode != 0:
        tail = log.read_text(encoding="utf-8").splitlines()[-5:]
        raise TrainingError(f"the training of {name} failed ({log}):\n" + "\n".join(tail))


def _print_runs(records: list[dict[str, Any]], base: str) -> None:
    from sparserec.cli.printing import print_table
    from sparserec.units import show_bytes

    rows = [
        {
            "table": record["run"],
            "Recall@20": record["test"]["float"]["recall@20"],
            "NDCG@20": record["test"]["float"]["ndcg@20"],
            "parameters": f"{record['parameters']:,}",
            "int8": show_bytes(record["bytes"]["int8"]),
            "peak": show_bytes(record["memory"]["peak"]["train"]),
            "seconds": f"{record['seconds']['total']:.0f}",
        }
        for record in records
    ]
    data = records[0]["data"]
    title = (
        f"{base} on {data['interactions']:,} visits of {data['users']:,} people to {data['items']:,} places"
    )
    notes = [
        "int8: the table on disk, positions included. peak: memory while training, above the start; on data "
        "this small it "
        "is mostly the libraries' own, whatever the table."
    ]
    print_table(rows, title, left=("table",), notes=notes)


def _print_user(model: Model, suggested: Any) -> None:
    """Five recommendations beside what the person already likes, so that one can judge them."""
    from sparserec.cli.printing import print_table

    train = model.run.split.train
    info, number = train.item_info, int(train.user_ids.index_of([USER])[0])
    tags = info.tags if info is not None and info.tags is not None else []
    visited = train.items[train.users == number]
    liked = Counter(tag for item in visited for tag in tags[item]).most_common(4)
    rows = [
        {
            "rank": rank,
            "place": item.title,
            "in": ", ".join(tags[int(train.item_ids.index_of([item.id])[0])]),
            "score": item.score,
        }
        for rank, item in enumerate(suggested, 1)
    ]
    typer.echo()
    print_table(
        rows,
        f"For {USER}, who goes most to " + ", ".join(f"{tag} ({count})" for tag, count in liked),
        left=("place", "in"),
    )
