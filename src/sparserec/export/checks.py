"""Words of a command that must be one of a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sparserec.errors import SettingError


def check_choice(name: str, value: Any, known: Sequence[Any]) -> None:
    """Raise unless the value is one of the known ones."""
    if value not in known:
        raise SettingError(
            f"{name} {value!r}: must be one of {', '.join(str(one) for one in known if one is not None)}"
        )
