"""sparserec config show: the settings a training would use, as a file that `train --config` takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from sparserec.cli import options


def register(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(no_args_is_help=True, help="Look at settings.")
    group.command("show")(show)
    group.callback()(lambda: None)  # keeps `show` a word of its own while it is the only one
    app.add_typer(group, name="config")


@options.with_settings
def show(
    context: typer.Context,
    run: Annotated[
        Optional[Path], typer.Option("--run", help="Show the settings of this run instead.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Print all settings, defaults filled in, as TOML that `train --config` takes."""
    from sparserec.errors import SettingError
    from sparserec.planning import settle_config
    from sparserec.runs import RunFolder
    from sparserec.training import resolve_config

    typed = options.typed_settings(context)
    if run is not None:
        if any(typed):
            raise SettingError("--run shows the settings a run was started with; give no others beside it")
        values = resolved(RunFolder(run).read_config())
    else:
        values = resolved(settle_config(resolve_config(*typed), None).config)
    typer.echo(json.dumps(values) if as_json else to_toml(values), nl=as_json)


def resolved(config: Any) -> dict[str, Any]:
    """All settings as plain values, those of the base and the method with their defaults."""
    from sparserec.methods import make_method
    from sparserec.recommenders import make_recommender

    base = make_recommender(config.base, config.base_settings)
    method = make_method(config.method, config.method_settings)
    return (
        config.model_dump(mode="json")
        | {
            "base_settings": base.settings.model_dump(mode="json"),
            "method_settings": method.settings.model_dump(mode="json"),
        }
        | {
            name: config.settled[name]
            for name in ("base_settings", "method_settings")
            if name in config.settled
        }
    )


def to_toml(values: dict[str, Any]) -> str:
    """Settings as TOML, which has no null: unset values become comments.

    A recipe names the stored one in which nothing is set that may be unset.
    """
    import tomli_w

    unset, given = [], {}
    for name, value in values.items():
        if isinstance(value, dict):
            unset += [f"{name}.{key}" for key, one in value.items() if one is None]
            kept = {key: one for key, one in value.items() if one is not None}
            given[name] = {"preset": "plain", **kept} if name == "recipe" else kept
        elif value is None:
            unset.append(name)
        else:
            given[name] = value
    return "".join(f"# {name} is not set\n" for name in unset) + tomli_w.dumps(given)
