"""sparserec config show: the settings a training would use, as a file that `train --config` takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sparserec.cli.recommend import AsJson


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Look at settings.")
    group.command("show")(show)
    group.callback()(lambda: None)  # keeps `show` a word of its own while it is the only one
    app.add_typer(group, name="config")


def show(
    data: Annotated[Optional[str], typer.Argument(help="A named data set or a path.")] = None,
    run: Annotated[
        Optional[Path], typer.Option("--run", help="Show the settings of this run instead.")
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
    as_json: AsJson = False,
) -> None:
    """Print all settings, defaults filled in, as TOML that `train --config` takes."""
    from sparserec.cli.toml import to_toml
    from sparserec.errors import SettingError
    from sparserec.serving.run_folder import read_config
    from sparserec.training.configure import configure

    options = {
        "data": data, "base": base, "method": method, "density": density, "dim": dim, "recipe.epochs": epochs,
        "recipe.preset": recipe, "preset": preset, "protocol": protocol, "seed": seed,
    }  # fmt: skip
    if run is not None:
        if config or assignments or any(value is not None for value in options.values()):
            raise SettingError("--run shows the settings a run was started with; give no others beside it")
        values = resolved(read_config(run))
    else:
        values = resolved(configure(config, options, assignments or []))
    typer.echo(json.dumps(values) if as_json else to_toml(values), nl=as_json)


def resolved(config: Any) -> dict[str, Any]:
    """All settings as plain values, those of the base and the method with their defaults."""
    from sparserec.methods import make_method
    from sparserec.recommenders import make_recommender

    base = make_recommender(config.base, config.base_settings)
    method = make_method(config.method, config.method_settings)
    return config.model_dump(mode="json") | {
        "base_settings": base.settings.model_dump(mode="json"),
        "method_settings": method.settings.model_dump(mode="json"),
    }
