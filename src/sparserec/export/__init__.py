"""The bridge from a trained run to a device file."""

from sparserec.export.file import NEW_USERS, ExportOptions, ExportReport, export_run
from sparserec.vectors.encoding import DEFAULT, Encoding
from sparserec.vectors.fold_in import fold_in_users, fold_taps
from sparserec.vectors.propagate import Vectors, make_vectors
from sparserec.vectors.quality import encoded_quality, new_user_quality, popularity_quality

__all__ = [
    "DEFAULT", "NEW_USERS", "Encoding", "ExportOptions", "ExportReport", "Vectors", "encoded_quality", "export_run",
    "fold_in_users", "fold_taps", "make_vectors", "new_user_quality", "popularity_quality",
]  # fmt: skip
