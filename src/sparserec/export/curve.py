"""The size/quality curve as a figure."""

from __future__ import annotations

from pathlib import Path

from sparserec.encodings import ENCODINGS, SHOWN
from sparserec.export.file import ExportReport
from sparserec.plots import new_figure, save_figure

COLOURS = ("#b5532a", "#c2185b", "#d9a441", "#8a8a8a", "#2a6fb5", "#7a5ab5", "#4d8f3a")
OF_OTHERS = "#222222"


def draw_curve(report: ExportReport, path: Path) -> None:
    """NDCG@20 of folded-in users against file size, one line per encoding family, float and popularity as levels."""
    figure = new_figure(7, 4.4)
    axes = figure.add_subplot()
    families = sorted({(row["kind"], row["bits"], row["fold"]) for row in report.curve})
    colours = dict(zip(ENCODINGS, COLOURS, strict=True))
    for kind, bits, fold in families:
        rows = [row for row in report.curve if (row["kind"], row["bits"], row["fold"]) == (kind, bits, fold)]
        rows.sort(key=lambda row: row["bytes"])
        sizes = [row["bytes"] / 1e6 for row in rows]
        scores = [row["quality"]["folded"]["ndcg@20"] for row in rows]
        axes.plot(
            sizes,
            scores,
            "-" if fold == "own" else "--",
            marker="o",
            markersize=3,
            color=colours.get(kind, OF_OTHERS),
            alpha=0.4 + 0.075 * bits,
            label=f"{SHOWN.get(kind, kind)}, {bits} bits, fold-in {fold}",
        )
    for level, name, style in (
        (report.quality["float"]["folded"], "float, all entries", ":"),
        (report.quality["popularity"]["all"], "popularity", "-."),
    ):
        axes.axhline(level["ndcg@20"], color="#777", linewidth=1, linestyle=style, label=name)
    axes.axvline(report.bytes / 1e6, color="#2c8a4b", linewidth=1, label="written file")
    axes.set_xscale("log")
    axes.set_xlabel("file size (MB)")
    axes.set_ylabel("NDCG@20, folded-in users (validation)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=6, frameon=False)
    save_figure(figure, path)
