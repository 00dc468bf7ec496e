"""Who is linked to whom, and the filter that every recommender here is."""

from sparserec.graph.adjacency import Adjacency, build_adjacency, build_histories
from sparserec.graph.filter import ColumnFilter, Noise, Tap, automatic_width, column_blocks
from sparserec.graph.multiply import choose_backend

__all__ = [
    "Adjacency",
    "ColumnFilter",
    "Noise",
    "Tap",
    "automatic_width",
    "build_adjacency",
    "build_histories",
    "choose_backend",
    "column_blocks",
]
