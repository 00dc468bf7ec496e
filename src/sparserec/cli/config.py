"""sparserec config show: the settings a training would use, as a file that `train --config` takes."""

from __future__ import annotations

import json
import re
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


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(values: dict[str, Any]) -> str:
    """Simple values first, then one section per group. TOML has no null: an unset value becomes a comment.

    A recipe names the stored one in which nothing is set that may be unset.
    """
    lines = [_line(name, value) for name, value in values.items() if not isinstance(value, dict)]
    for name, group in values.items():
        if isinstance(group, dict):
            lines += ["", f"[{_key(name)}]"]
            if name == "recipe":
                lines.append('preset = "plain"')
            lines += [_line(key, value) for key, value in group.items()]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    return f"# {name} is not set" if value is None else f"{_key(name)} = {_value(value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """JSON's escapes are TOML's, but for one sign that TOML wants escaped and JSON does not."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items()) + "}"
    raise TypeError(f"{value!r} has no form in TOML")
