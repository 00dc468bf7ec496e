"""Who is linked to whom, and the filter that every recommender here is."""

from sparserec.graph.adjacency import Adjacency, build_adjacency, build_histories, by_degree, by_group
from sparserec.graph.buffers import Buffers
from sparserec.graph.dropout import decay_gradient, drop_entries, dropped_weights
from sparserec.graph.filter import ColumnFilter, Noise, Tap, automatic_width, clear
from sparserec.graph.multiply import Matrix
from sparserec.graph.noise import SignedNoise

__all__ = [
    "Adjacency",
    "Buffers",
    "ColumnFilter",
    "Matrix",
    "Noise",
    "SignedNoise",
    "Tap",
    "automatic_width",
    "build_adjacency",
    "build_histories",
    "by_degree",
    "by_group",
    "clear",
    "decay_gradient",
    "drop_entries",
    "dropped_weights",
]
