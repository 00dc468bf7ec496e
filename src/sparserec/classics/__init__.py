"""Recommenders to measure against that train no table. A new one is a file with its settings and a line in CLASSICS."""

from sparserec.classics.base import ClassicSettings, Fitted, histories
from sparserec.classics.cooccurrence import Cooccurrence, allocate
from sparserec.classics.ease import EASE
from sparserec.classics.neighbours import Cosine, NeighbourLists, RP3beta, nearest
from sparserec.classics.popularity import Popularity
from sparserec.classics.search import Tried, search

CLASSICS: dict[str, type[ClassicSettings]] = {
    "popularity": Popularity,
    "cosine": Cosine,
    "rp3beta": RP3beta,
    "ease": EASE,
    "together": Cooccurrence,
}

__all__ = [
    "CLASSICS",
    "EASE",
    "ClassicSettings",
    "Cooccurrence",
    "Cosine",
    "Fitted",
    "NeighbourLists",
    "Popularity",
    "RP3beta",
    "Tried",
    "allocate",
    "histories",
    "nearest",
    "search",
]
