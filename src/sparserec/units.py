"""Sizes, times and chances as people write and read them: 1MB, 900kB, 2MiB, 1500000; 3.2 MB, 40 s; 3e-08."""

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


def show_bytes(size: float) -> str:
    """A size as people read it: three digits and a unit of a thousand."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 100 or unit == "bytes" else f"{size:.3g} {unit}"


def show_seconds(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_probability(value: float) -> str:
    """A p-value as people read it."""
    if value < 1e-99:
        return "<1e-99"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"
