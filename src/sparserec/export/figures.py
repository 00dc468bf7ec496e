"""The size/quality curve as a figure."""

from __future__ import annotations

from pathlib import Path

from sparserec.export.file import ExportReport
from sparserec.files import replacing


def draw_curve(report: ExportReport, path: Path) -> None:
    """NDCG@20 of folded-in users against file size, one line per encoding family, float and popularity as levels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for bits in (4, 8):
        for fold, style in (("shared", "--"), ("own", "-")):
            rows = [row for row in report.curve if row["bits"] == bits and row["fold"] == fold]
            rows.sort(key=lambda row: row["bytes"])
            sizes = [row["bytes"] / 1e6 for row in rows]
            scores = [row["quality"]["folded"]["ndcg@20"] for row in rows]
            axes.plot(sizes, scores, style, marker="o", markersize=4, color={4: "#b5532a", 8: "#2a6fb5"}[bits],
                      label=f"int{bits}, fold-in {fold}")  # fmt: skip
            for row, size, score in zip(rows, sizes, scores):
                if bits == 8 and fold == "own":
                    axes.annotate(
                        str(row["keep"]),
                        (size, score),
                        fontsize=7,
                        xytext=(3, -9),
                        textcoords="offset points",
                    )
    axes.axhline(
        report.quality["float"]["folded"]["ndcg@20"],
        color="#555",
        linewidth=1,
        linestyle=":",
        label="float, all entries",
    )
    axes.axhline(
        report.quality["popularity"]["all"]["ndcg@20"],
        color="#999",
        linewidth=1,
        linestyle="-.",
        label="popularity",
    )
    axes.axvline(report.bytes / 1e6, color="#2c8a4b", linewidth=1, label="written file")
    axes.set_xscale("log")
    axes.set_xlabel("file size (MB); numbers are entries kept per item")
    axes.set_ylabel("NDCG@20, folded-in users (validation)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=130)
