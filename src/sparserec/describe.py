"""Write `catalogue.json`, what `sparserec methods` and `sparserec bases` list, from the classes: run as
`python -m sparserec.describe`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparserec.files import write_text
from sparserec.methods import METHODS
from sparserec.recommenders import RECOMMENDERS, make_recommender


def described() -> dict[str, dict[str, dict[str, Any]]]:
    """The lines of all methods and bases."""
    methods = {
        name: {"idea": kind.idea, "trainings": kind.trainings, "memory": kind.memory, "paper": kind.paper}
        for name, kind in METHODS.items()
    }
    return {"methods": methods, "bases": {name: _base_line(name) for name in RECOMMENDERS}}


def _base_line(name: str) -> dict[str, Any]:
    instance, kind = make_recommender(name), RECOMMENDERS[name]
    hops = max(len(tap) for tap in instance.taps) - 1
    rows = "users and items" if instance.user_rows else "items"
    return {"idea": kind.idea, "multiplications": 2 * hops, "rows": rows, "paper": kind.paper}


def as_text() -> str:
    groups = []
    for group, lines in described().items():
        rows = (f"  {json.dumps(name)}: {json.dumps(line)}" for name, line in lines.items())
        groups.append(f' "{group}": {{\n' + ",\n".join(rows) + "\n }")
    return "{\n" + ",\n".join(groups) + "\n}\n"


if __name__ == "__main__":
    write_text(Path(__file__).with_name("catalogue.json"), as_text())
