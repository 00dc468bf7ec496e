"""Small model files and their reader: numpy and the standard library only, so that it runs where
training never will.
"""

from .codecs import (
    EncodedTable,
    SparseRows,
    decode_table,
    dequantise,
    encode_table,
    fake_quantise,
    fake_quantise_flat,
    keep_largest,
    quantise_rows,
    sparse_rows,
)
from .encode import encode_codes, encode_rows, read_back, read_back_sparse
from .errors import DeviceError, FileError
from .fold_in import FoldIn
from .graph import encode_graph, smallest_counts
from .ids import id_tensors
from .model import Explanation, Item, Model, Recommendation, load, loads
from .scorers import FullScorer
from .text import text_tensors
from .writer import ModelParts, model_bytes, write_model

__all__ = [
    "DeviceError",
    "EncodedTable",
    "Explanation",
    "FileError",
    "FoldIn",
    "FullScorer",
    "Item",
    "Model",
    "ModelParts",
    "Recommendation",
    "SparseRows",
    "decode_table",
    "dequantise",
    "encode_codes",
    "encode_graph",
    "encode_rows",
    "encode_table",
    "fake_quantise",
    "fake_quantise_flat",
    "id_tensors",
    "keep_largest",
    "load",
    "loads",
    "model_bytes",
    "quantise_rows",
    "read_back",
    "read_back_sparse",
    "smallest_counts",
    "sparse_rows",
    "text_tensors",
    "write_model",
]
