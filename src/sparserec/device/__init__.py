"""Small model files and their reader: numpy and the standard library only, so that it runs where
training never will.
"""

from .codecs import (
    SCALE_BYTES,
    EncodedTable,
    SparseRows,
    dequantise,
    encode_table,
    fake_quantise,
    fake_quantise_flat,
    gap_bytes,
    int_bytes,
    keep_largest,
    prefix_bytes,
    product_bytes,
    quantise_rows,
    quantised_bytes,
    quantised_bytes_flat,
    sparse_rows,
)
from .encode import CodedRows, code_rows, encode_coded, encode_codes, encode_rows, read_back, read_back_sparse
from .errors import DeviceError, FileError
from .fold_in import FoldInWeights
from .graph import encode_graph, smallest_counts
from .ids import id_tensors
from .model import Explanation, Item, Model, Recommendation, load, loads
from .scorers import FullScorer, ItemsScorer
from .table import Table
from .tables import READERS
from .term import ItemTerm
from .text import text_tensors
from .writer import ModelParts, model_bytes, write_model

__all__ = [
    "READERS",
    "SCALE_BYTES",
    "CodedRows",
    "DeviceError",
    "EncodedTable",
    "Explanation",
    "FileError",
    "FoldInWeights",
    "FullScorer",
    "Item",
    "ItemTerm",
    "ItemsScorer",
    "Model",
    "ModelParts",
    "Recommendation",
    "SparseRows",
    "Table",
    "code_rows",
    "dequantise",
    "encode_coded",
    "encode_codes",
    "encode_graph",
    "encode_rows",
    "encode_table",
    "fake_quantise",
    "fake_quantise_flat",
    "gap_bytes",
    "id_tensors",
    "int_bytes",
    "keep_largest",
    "load",
    "loads",
    "model_bytes",
    "prefix_bytes",
    "product_bytes",
    "quantise_rows",
    "quantised_bytes",
    "quantised_bytes_flat",
    "read_back",
    "read_back_sparse",
    "smallest_counts",
    "sparse_rows",
    "text_tensors",
    "write_model",
]
