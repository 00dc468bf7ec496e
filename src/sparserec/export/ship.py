"""The file of a run that was trained for a budget: chosen on validation among all encodings, and written down."""

from __future__ import annotations

from pathlib import Path

from sparserec.export.file import ExportOptions, ExportReport, export_run
from sparserec.runs import open_final, open_run
from sparserec.units import show_bytes
from sparserec.vectors import Encoding


def ship_run(folder: Path, budget: int, quiet: bool = True) -> ExportReport | None:
    """Write the run's device file with the choice that `export --budget` makes; its record says which and why.

    None where the run has no validation part to choose by: the test part stays closed.
    """
    run, final = open_run(folder), open_final(folder)
    if len(run.split.valid) == 0:
        return None
    report = export_run(run, run.folder.device_file, ExportOptions(budget=budget), quiet=quiet, final=final)
    chosen = Encoding(**report.encoding)
    run.record.shipped = {
        "file": report.path.name,
        "budget": budget,
        "bytes": report.bytes,
        "encoding": report.encoding,
        "valid": report.quality["file"]["folded"],
        "tried": report.curve,
        "why": f"{chosen.label}: the smallest of {len(report.curve)} files around {show_bytes(budget)} whose "
        "validation NDCG@20 comes within 1 % of the best that fits",
    }
    run.folder.write_record(run.record)
    return report
