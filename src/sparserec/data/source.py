"""What a reader hands on: the parts as they came, and a report of what was understood."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sparserec.data.interactions import Interactions, ItemInfo, join


@dataclass(frozen=True)
class ReadReport:
    """What was understood of the input, for people and for the run record."""

    format: str
    files: tuple[str, ...] = ()
    columns: dict[str, str] = field(default_factory=dict)
    users: int = 0
    items: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    """Interactions per part: train, and valid and test when the input has them."""
    density: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)
    """Rows left out, by reason."""
    notes: tuple[str, ...] = ()

    @property
    def interactions(self) -> int:
        return sum(self.parts.values())

    def lines(self) -> list[str]:
        """The report as lines to print."""
        parts = ", ".join(f"{name} {count:,}" for name, count in self.parts.items())
        lines = [f"format        {self.format}"]
        lines += [f"file          {name}" for name in self.files[:4]]
        if len(self.files) > 4:
            lines.append(f"              and {len(self.files) - 4} more")
        if self.columns:
            lines.append(
                "columns       " + ", ".join(f"{role} = {name}" for role, name in self.columns.items())
            )
        lines.append(f"users         {self.users:,}")
        lines.append(f"items         {self.items:,}")
        lines.append(f"interactions  {self.interactions:,}" + (f" ({parts})" if len(self.parts) > 1 else ""))
        lines.append(
            f"density       {self.density:.3%}"
            if self.density >= 1e-4
            else f"density       {self.density:.2e}"
        )
        lines += [
            f"dropped       {count:,} rows: {reason}" for reason, count in self.dropped.items() if count
        ]
        return lines + [f"note          {note}" for note in self.notes]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values for JSON."""
        return {
            "format": self.format,
            "files": list(self.files),
            "columns": dict(self.columns),
            "users": self.users,
            "items": self.items,
            "interactions": self.interactions,
            "parts": dict(self.parts),
            "density": self.density,
            "dropped": dict(self.dropped),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Source:
    """Interactions as they were given; all parts share their id maps."""

    train: Interactions
    valid: Interactions | None
    test: Interactions | None
    report: ReadReport

    @property
    def parts(self) -> dict[str, Interactions]:
        """The parts that exist, by name."""
        named = {"train": self.train, "valid": self.valid, "test": self.test}
        return {name: part for name, part in named.items() if part is not None}

    def merged(self) -> Interactions:
        """All parts as one."""
        return join(list(self.parts.values()))

    def with_item_info(self, item_info: ItemInfo | None) -> Source:
        """The same source with names for the items; its report says where they are from."""
        named = {name: part.with_item_info(item_info) for name, part in self.parts.items()}
        source = Source(named["train"], named.get("valid"), named.get("test"), self.report)
        return source.with_notes(item_info.note) if item_info is not None and item_info.note else source

    def with_notes(self, *notes: str) -> Source:
        """The same source with more lines in its report."""
        return replace(self, report=replace(self.report, notes=self.report.notes + notes))
