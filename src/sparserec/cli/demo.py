"""sparserec demo: what `train` does by default on the built-in city, beside a dense table and the paper's
configuration, and the page it becomes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from sparserec.cli.options import AsJson

if TYPE_CHECKING:
    from sparserec.runs import RunFolder
    from sparserec.serving import Model

TRAININGS: dict[str, tuple[dict[str, str], str]] = {
    "default": (
        {},
        "what train does by default: sparse vectors of items, and a device file chosen on validation",
    ),
    "dense": (
        {"method": "dense"},
        "the same with every entry of the table, eight times as many",
    ),
    "paper": (
        {"like": "paper"},
        "the paper's configuration, LightGCN with an eighth of its table",
    ),
}
"""What each of them is told, as options of train, and what that is. The first one alone becomes a device file."""
SETTLED = ("recipe", "method_settings")
"""Settings that --epochs, the size of the data and the machine have a say in."""
PAPER_EPOCHS = 60
"""Of the paper's 500: the city is small, and validation is best before epoch 60."""
USER = "u0042"


def demo(
    folder: Annotated[Path, typer.Option(help="Where the three runs go.")] = Path("runs/demo"),
    again: Annotated[bool, typer.Option("--again", help="Train anew what was trained before.")] = False,
    epochs: Annotated[Optional[int], typer.Option(help="Shorter or longer than the default.")] = None,
    base: Annotated[Optional[str], typer.Option(help="Another base than history for the first two.")] = None,
    as_json: AsJson = False,
) -> None:
    """Train on the built-in city, compare with a dense table and with the paper's configuration, write a page."""
    import sparserec
    from sparserec.cli.compare import compare
    from sparserec.export import write_page
    from sparserec.runs import RunFolder

    folder = folder / base if base else folder
    for name in TRAININGS:  # all of them before hours go into the first
        _check_ours(RunFolder(folder / name), _options(name, base))
    for name in TRAININGS:
        _train(name, folder / name, again, epochs, base, as_json)
    runs = [str(folder / name) for name in TRAININGS]
    model = sparserec.load(runs[0])
    page = folder / "city.html"
    write_page(page, RunFolder(runs[0]).device_file, "Places to go")
    if as_json:
        records = [{"run": name, **RunFolder(folder / name).read_record().as_dict()} for name in TRAININGS]
        items = model.recommend(user=USER, k=5).as_dict()["items"]
        answer = {"runs": records, "user": USER, "recommendations": items, "page": str(page)}
        typer.echo(json.dumps(answer))
        return
    typer.echo(f"\n$ sparserec compare {' '.join(runs)}")
    compare(runs)
    _print_user(model)  # type: ignore[arg-type]
    typer.echo(
        f"\nThe recommender as one offline page ({page.stat().st_size / 1e3:.0f} kB), open it in a browser:\n"
        f"  {page.resolve()}\n"
        f"\nTry: sparserec recommend {runs[0]} --user {USER} --explain\n"
        "     sparserec train my_log.csv"
    )
    if shutil.which("sparserec") is None:
        here, commands = Path.cwd(), Path(sys.executable).parent
        commands = commands.relative_to(here) if commands.is_relative_to(here) else commands
        typer.echo(f"\nCommands are in {commands}; `source {commands}/activate` puts them on the path.")


def _options(name: str, base: str | None) -> dict[str, str]:
    """Options of train for one of the three; a base is for those that are not the paper's."""
    options, _ = TRAININGS[name]
    return {**options, "base": base} if base is not None and name != "paper" else options


def _check_ours(run: RunFolder, options: dict[str, str]) -> None:
    """Refuse a run that the demo has not trained: it would take it for its own, or remove it to train it anew."""
    from sparserec.errors import RunError
    from sparserec.training import differences, resolve_config

    if not run.begun:
        return
    found, wanted = run.read_config(), resolve_config(None, {"data": "world", **options}, [])
    wanted = wanted.model_copy(update={name: getattr(found, name) for name in SETTLED})
    if found.digest() != wanted.digest():
        raise RunError(
            f"{run.path}: holds a run that is not the demo's ({differences(found, wanted)}), and is left as it is; "
            "choose another --folder, or move that run away"
        )


def _train(name: str, run: Path, again: bool, epochs: int | None, base: str | None, quiet: bool) -> None:
    """One run by its command, in a process of its own: its peak memory is its own. A finished one is used as it is."""
    from sparserec.runs import RunFolder

    _, about = TRAININGS[name]
    if name == "paper":
        epochs = epochs or PAPER_EPOCHS
        about += f"; {epochs} of its 500 epochs"
    before = RunFolder(run)
    whole = before.finished and (name != "default" or before.device_file.is_file())
    if before.begun and (again or (before.finished and not whole)):
        shutil.rmtree(run)
    elif whole:
        print(f"{name}: trained before (--again repeats it)", file=sys.stderr)
        return
    options = _options(name, base) | ({} if epochs is None else {"epochs": str(epochs)})
    typed = ["train", "world", *(word for key, value in options.items() for word in (f"--{key}", value))]
    typed += [*([] if name == "default" else ["--no-file"]), "--run", str(run)]
    print(f"\n{name}: {about}\n$ sparserec {' '.join(typed)}", file=sys.stderr)
    typed += ["--resume"] if before.begun else []
    done = subprocess.run(
        [sys.executable, "-m", "sparserec", *typed], stdout=subprocess.DEVNULL if quiet else None, check=False
    )
    if done.returncode != 0:
        raise typer.Exit(done.returncode)


def _print_user(model: Model) -> None:
    """Five recommendations beside what the person already likes, so that one can judge them."""
    from sparserec.cli.printing import print_table

    train = model.run.split.train
    info, number = train.item_info, int(train.user_ids.index_of([USER])[0])
    tags = info.tags if info is not None and info.tags is not None else []
    liked = Counter(tag for item in train.items[train.users == number] for tag in tags[item]).most_common(4)
    rows = [
        {
            "rank": rank,
            "place": item.title,
            "in": ", ".join(tags[int(train.item_ids.index_of([item.id])[0])]),
            "score": item.score,
        }
        for rank, item in enumerate(model.recommend(user=USER, k=5), 1)
    ]
    typer.echo()
    goes = ", ".join(f"{tag} ({count})" for tag, count in liked)
    print_table(rows, f"For {USER}, who goes most to {goes}", left=("place", "in"))
