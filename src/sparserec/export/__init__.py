"""The bridge from a trained run to a device file."""

from sparserec.export.write import NEW_USERS, ExportOptions, ExportReport, export_run
from sparserec.shipping.encoding import DEFAULT, Encoding
from sparserec.shipping.quality import encoded_quality, new_user_quality, popularity_quality
from sparserec.shipping.vectors import Vectors, fold_in_users, fold_taps, make_vectors

__all__ = [
    "DEFAULT", "NEW_USERS", "Encoding", "ExportOptions", "ExportReport", "Vectors", "encoded_quality", "export_run",
    "fold_in_users", "fold_taps", "make_vectors", "new_user_quality", "popularity_quality",
]  # fmt: skip
