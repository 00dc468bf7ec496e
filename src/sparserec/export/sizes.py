"""Sizes as people write them: 1MB, 900kB, 2MiB, 1500000."""

from __future__ import annotations

import re

from sparserec.errors import SettingError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def parse_size(text: str) -> int:
    """Bytes of a written size; MB is a million, MiB 2^20."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if not found or found[2].lower() not in UNITS:
        raise SettingError(f"size {text!r}: write a number with kB, MB or MiB, for example 1MB")
    return int(float(found[1]) * UNITS[found[2].lower()])
