"""The bridge from a trained run to a device file."""

from sparserec.export.encoding import DEFAULT, Encoding
from sparserec.export.quality import encoded_quality, popularity_quality
from sparserec.export.vectors import Vectors, fold_in_users, fold_taps, make_vectors
from sparserec.export.write import ExportOptions, ExportReport, export_run

__all__ = [
    "DEFAULT", "Encoding", "ExportOptions", "ExportReport", "Vectors", "encoded_quality", "export_run", "fold_in_users",
    "fold_taps", "make_vectors", "popularity_quality",
]  # fmt: skip
