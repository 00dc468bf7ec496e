"""sparserec train: from interactions to a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

if TYPE_CHECKING:
    from sparserec.planning.budget import Target
    from sparserec.planning.plan import Wishes
    from sparserec.training.config import RunConfig
    from sparserec.training.warm_start import WarmStart


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(train)


def train(
    data: Annotated[
        Optional[str], typer.Argument(help="A named data set (see `sparserec data list`) or a path.")
    ] = None,
    run_dir: Annotated[
        Optional[Path],
        typer.Option("--run", help="Folder of this run; default runs/<data>-<method>-<digest>."),
    ] = None,
    base: Annotated[Optional[str], typer.Option(help="Base recommender.")] = None,
    method: Annotated[Optional[str], typer.Option(help="How the parameter budget is spent.")] = None,
    density: Annotated[Optional[float], typer.Option(help="Share of the full table that is kept.")] = None,
    dim: Annotated[Optional[int], typer.Option(help="Columns of the full table.")] = None,
    epochs: Annotated[Optional[int], typer.Option(help="Length of a full training.")] = None,
    recipe: Annotated[Optional[str], typer.Option(help="Named recipe: default or paper.")] = None,
    preset: Annotated[
        Optional[str], typer.Option(help="Published settings of the base, such as published-gowalla.")
    ] = None,
    protocol: Annotated[
        Optional[str], typer.Option(help="Split: resplit, public, public-full, temporal, files or new-users.")
    ] = None,
    seed: Annotated[Optional[int], typer.Option(help="Seed of everything but the split.")] = None,
    config: Annotated[Optional[Path], typer.Option(help="TOML file with settings.")] = None,
    assignments: Annotated[
        Optional[list[str]], typer.Option("--set", help="Any setting, as key=value; repeatable.")
    ] = None,
    budget: Annotated[
        Optional[str],
        typer.Option(help="Size of the file to ship, such as 1MB: chooses --dim and --density."),
    ] = None,
    target: Annotated[str, typer.Option("--for", help="What will be shipped: items or full.")] = "items",
    warm: Annotated[
        Optional[Path], typer.Option("--from", help="A finished run to go on from when the log has grown.")
    ] = None,
    metadata: Annotated[Optional[Path], typer.Option(help="Table with item id, title and tags.")] = None,
    nmf_limit: Annotated[
        Optional[float],
        typer.Option(
            help="Largest factorisation, in billions of nodes * dim^2 * iterations; 0 for no limit."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Train even if memory will not suffice.")] = False,
    data_dir: Annotated[Optional[str], typer.Option(help="Where named data sets already are.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue a stopped run exactly.")] = False,
    threads: Annotated[Optional[int], typer.Option(help="Threads; default all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Train a recommender within a parameter budget and measure it."""
    from sparserec.cli.configure import configure
    from sparserec.cli.show import print_record
    from sparserec.export.sizes import parse_size
    from sparserec.planning.estimate import NMF_LIMIT
    from sparserec.planning.plan import Wishes
    from sparserec.training.threads import use_threads
    from sparserec.training.warm_start import open_warm_start

    options = {
        "data": data, "base": base, "method": method, "density": density, "dim": dim, "recipe.epochs": epochs,
        "recipe.preset": recipe, "preset": preset, "protocol": protocol, "seed": seed,
    }  # fmt: skip
    old = open_warm_start(warm) if warm is not None else None
    inherited = old.inherited(base, method) if old is not None else None
    settings = configure(config, options, assignments or [], inherited)
    use_threads(threads)
    wishes = Wishes(
        None if budget is None else parse_size(budget), _target(target), _wish(old, dim), density,
        NMF_LIMIT if nmf_limit is None else nmf_limit, old is None, force,
    )  # fmt: skip
    record, folder = _train(settings, wishes, old, metadata, run_dir, data_dir, resume, quiet)
    print_record(record, folder, as_json)
    if budget is not None and not as_json:
        everyone = " --include-everyones-history" if target == "full" else ""
        print(f"next: sparserec export {folder} --mode {target} --budget {budget}{everyone}")


def _target(text: str) -> Target:
    from sparserec.errors import SettingError

    if text not in ("items", "full"):
        raise SettingError(f"--for {text!r}: a file is made for items or full")
    return text  # type: ignore[return-value]


def _wish(old: WarmStart | None, dim: int | None) -> int | None:
    """A dimension that a budget cannot change: the user's, or that of the run to go on from."""
    return dim if old is None or dim is not None else old.run.config.dim


def _train(
    settings: RunConfig, wishes: Wishes, old: WarmStart | None, metadata: Path | None, run_dir: Path | None,
    data_dir: str | None, resume: bool, quiet: bool,
) -> tuple[dict[str, Any], Path]:  # fmt: skip
    """Read the data, settle what depends on its size, train."""
    from sparserec.data import read_item_info, resolve
    from sparserec.memory import peak_of, resident_bytes
    from sparserec.planning.plan import plan_run
    from sparserec.training.records import say
    from sparserec.training.run import train_run

    peaks: dict[str, int] = {}
    baseline = resident_bytes()
    with peak_of(peaks, "read", baseline):
        source = resolve(settings.data, data_dir=data_dir, **settings.read)
        if metadata is not None:
            source = source.with_item_info(read_item_info(metadata, source.train.item_ids))
    plan = plan_run(settings, source, wishes)
    say("\n".join(plan.said), quiet or not plan.said)
    settings = plan.config if old is None else old.configure(plan.config)
    folder = run_dir or Path("runs") / f"{Path(settings.data).stem}-{settings.method}-{settings.digest()[:8]}"
    finished = train_run(
        settings, folder, source, data_dir, resume, quiet, warm=old, peaks=peaks, baseline=baseline
    )
    return finished.record, folder
