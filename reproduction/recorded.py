"""Recorded results by what was trained: a cell is filled by any row of the same settings, whatever its name."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sparserec.data import find_named
from sparserec.errors import SparserecError
from sparserec.evaluation import UserValues
from sparserec.methods import make_method
from sparserec.recommenders import make_recommender
from sparserec.runs import (
    METRIC,
    PRECISION,
    RunFolder,
    folder_users,
    read_results,
    recorded_path,
    recorded_users,
)
from sparserec.training import RunConfig

SAME_RESULT = ("open_test", "checkpoint_every")
"""Settings that do not change what is trained."""
NEVER_EXPLORE = ("dense", "small_dense", "static", "magnitude", "lottery", "pep")
"""Methods whose rows count although they are older than the recipe's number of explorations."""
EXPLORING = ("explorations", "explore_every")
CHOSEN = {"temperature": "temperatures", "length_exponent": "lengths"}
"""Settings of a base that validation may choose, and where a record says what was tried."""
WINNER = re.compile(r"search-.+=")
"""Names of rows that a whole search ended in."""
FEWEST_EXPLORATIONS = 10
"""With fewer a training is not called SparseRec: its support is hardly anything but the first one."""


@dataclass(frozen=True)
class Found:
    """A recorded result."""

    row: dict[str, Any]
    file: Path
    folder: Path | None
    """Its run folder, where that is here too."""

    @property
    def name(self) -> str:
        return str(self.row["name"])

    def metric(self, name: str, precision: str = PRECISION) -> float | None:
        """A test metric such as ndcg@20."""
        return self.row["test"].get(precision, {}).get(name)

    @property
    def config(self) -> RunConfig:
        """What was trained."""
        return config_of_row(self.row)

    @property
    def validation(self) -> float:
        """Best validation score of the last training; what choices are made by."""
        score = self.row["epochs"][-1]["best_score"]
        return float("-inf") if score is None else score

    @property
    def explorations(self) -> int | None:
        """How often the support was changed by dropping and growing; None where nobody counted."""
        counted = self.row.get("explorations")
        if counted is None and self.folder is not None and RunFolder(self.folder).events.exists():
            counted = sum(event["event"] == "explore" for event in self.events())
        return counted

    def events(self) -> list[dict[str, Any]]:
        """What the run wrote while it trained; nothing where its folder is not here."""
        return [] if self.folder is None else RunFolder(self.folder).read_events()

    @cached_property
    def users(self) -> UserValues | None:
        """NDCG@20 of every user of the int8 table, for paired tests; None where neither file nor folder has it."""
        recorded = recorded_path(self.file, self.name)
        if recorded.exists():
            return recorded_users(recorded)
        if self.folder is None or not RunFolder(self.folder).per_user.exists():
            return None
        return folder_users(RunFolder(self.folder), METRIC, PRECISION)


def identity(config: RunConfig) -> str:
    """Hash of everything that decides a result, the settings of base and method included.

    Defaults are left out, so that a setting which a later version adds does not make old results strangers.
    """
    values = config.model_dump(mode="json", exclude=set(SAME_RESULT), exclude_defaults=True)
    base, method = (
        make_recommender(config.base, config.base_settings),
        make_method(config.method, config.method_settings),
    )
    entry = find_named(config.data)
    values |= {
        "data": config.data if entry is None else entry.name,
        "base": config.base,
        "method": config.method,
        "base_settings": base.settings.model_dump(mode="json", exclude_defaults=True),
        "method_settings": method.settings.model_dump(mode="json", exclude_defaults=True),
    }
    if config.method in NEVER_EXPLORE:
        values["recipe"] = {k: v for k, v in values.get("recipe", {}).items() if k not in EXPLORING}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def identity_of_row(row: dict[str, Any]) -> str | None:
    """The same of a recorded row; None where its settings mean nothing to this version, or something else."""
    config = row.get("config")
    if not config or not row.get("test"):
        return None
    counted = "explorations" in config["recipe"]
    if not counted and config["method"] not in NEVER_EXPLORE:
        return None
    try:
        return identity(_as_asked(row))
    except SparserecError:
        return None


def _as_asked(row: dict[str, Any]) -> RunConfig:
    """The configuration of a row without what validation chose of its base: the cell that asks leaves it open."""
    config = config_of_row(row)
    chosen = {name for name, tried in CHOSEN.items() if row.get(tried)}
    settings = {name: value for name, value in config.base_settings.items() if name not in chosen}
    return config.model_copy(update={"base_settings": settings})


def config_of_row(row: dict[str, Any]) -> RunConfig:
    """The configuration of a row, with the settings of base and method in full."""
    settings = {name: row[name] for name in ("base_settings", "method_settings")}
    return RunConfig.parse({**row["config"], **settings})


def read_recorded(results: Path, runs: Path) -> dict[str, Found]:
    """Rows with an opened test set of all result files of a folder, by identity; of equal ones the first that counted
    its explorations (the oldest rows did not), of these the first that a search ended in, which has a rate to tell.

    Run folders are where queue files put them: in a folder of `runs` named after the result file.
    """
    found: dict[str, Found] = {}
    for file in sorted(results.glob("*.jsonl")):
        for row in read_results(file):
            key = identity_of_row(row)
            if key is None:
                continue
            if key not in found or _worth(row) > _worth(found[key].row):
                found[key] = Found(row, file, _folder(runs / file.stem, row))
    return found


def _worth(row: dict[str, Any]) -> tuple[bool, bool]:
    return row.get("explorations") is not None, WINNER.match(row["name"]) is not None


def _folder(runs: Path, row: dict[str, Any]) -> Path | None:
    """The run folder of a row; the winner of a search is in that of its rate."""
    names = (row["name"], row["name"].replace("=", "@"))
    return next((runs / name for name in names if (runs / name).is_dir()), None)


def name_of(config: RunConfig) -> str:
    """Name of a training, the same from every grid that asks for it; it ends in the beginning of its identity."""
    drawn = config.read.get("draw_users")
    data = Path(config.data).stem + (f"-{drawn}-users" if drawn else "")
    parts = [data, config.base, config.method]
    if config.method != "dense":
        parts.append(f"{config.density:g}")
    parts += [f"{config.recipe.epochs}-epochs", f"seed-{config.seed}", identity(config)[:6]]
    return "-".join(parts)
