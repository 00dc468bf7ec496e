"""Small model files and their reader: numpy and the standard library only, so that it runs where training never will."""

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
from .errors import DeviceError
from .fold_in import FoldIn
from .model import Explanation, Item, Model, Recommendation, load, loads
from .writer import ModelParts, model_bytes, write_model

__all__ = [
    "DeviceError",
    "EncodedTable",
    "Explanation",
    "FoldIn",
    "Item",
    "Model",
    "ModelParts",
    "Recommendation",
    "SparseRows",
    "decode_table",
    "dequantise",
    "encode_codes",
    "encode_rows",
    "encode_table",
    "fake_quantise",
    "fake_quantise_flat",
    "keep_largest",
    "load",
    "loads",
    "model_bytes",
    "quantise_rows",
    "read_back",
    "read_back_sparse",
    "sparse_rows",
    "write_model",
]
