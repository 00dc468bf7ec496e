"""Recommenders to measure against that train no table. A new one is a file with its settings and a line in CLASSICS."""

from sparserec.classics.base import ClassicSettings, Fitted, histories
from sparserec.classics.ease import EASE
from sparserec.classics.neighbours import Cosine, NeighbourLists, RP3beta, nearest
from sparserec.classics.popularity import Popularity
from sparserec.classics.search import Tried, search
from sparserec.classics.together import Together, deal

CLASSICS: dict[str, type[ClassicSettings]] = {
    "popularity": Popularity,
    "cosine": Cosine,
    "rp3beta": RP3beta,
    "ease": EASE,
    "together": Together,
}

__all__ = [
    "CLASSICS",
    "EASE",
    "ClassicSettings",
    "Cosine",
    "Fitted",
    "NeighbourLists",
    "Popularity",
    "RP3beta",
    "Together",
    "Tried",
    "deal",
    "histories",
    "nearest",
    "search",
]
