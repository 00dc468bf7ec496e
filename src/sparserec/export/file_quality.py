"""How good a file is: float before, as the file has it, and popularity, on the validation part of the measured run."""

from __future__ import annotations

import numpy as np

from sparserec.encodings import Encoded, Encoding, encoded_quality, new_user_quality, popularity_quality
from sparserec.recommenders import Vectors
from sparserec.runs import Trained
from sparserec.table import Table

Quality = dict[str, dict[str, dict[str, float]]]
"""Metrics by stage (float, file, popularity) and group of users."""

NEW_USERS = "new users"
"""The group of users who were held out whole; they can be measured on the test part only."""


def file_quality(
    run: Trained,
    vectors: Vectors,
    mode: str,
    encoded: Encoded | None,
    encoding: Encoding,
    items: np.ndarray,
) -> tuple[Quality, bool]:
    """Float first, then as the file has it, then popularity; and whether the test part was opened for it.

    Without a validation part nothing is measured. A file of mode items knows nobody, so trained users have no row.
    Users of a split that holds users out whole are folded in from what is given of them; a search leaves the test part
    closed, and them unmeasured.
    """
    read = vectors
    if encoded is None:  # mode full
        read = run.recommender.vectors(run.graph, run.table.quantised(encoding.bits))
    quality: Quality = {}
    if len(run.split.valid):
        truth = run.split.valid
        quality["float"] = _served(encoded_quality(vectors, None, run.split, truth), mode)
        quality["file"] = _served(encoded_quality(read, encoded, run.split, truth, places=items), mode)
        quality["popularity"] = {"all": popularity_quality(run.split, truth)}
    opened = run.split.given is not None and run.config.open_test
    if opened:
        quality["float"][NEW_USERS] = new_user_quality(vectors, None, run.split)
        quality["file"][NEW_USERS] = new_user_quality(read, encoded, run.split, items)
        quality["popularity"][NEW_USERS] = popularity_quality(run.split, run.split.test, at_test=True)
    return quality, opened


def _served(quality: dict[str, dict[str, float]], mode: str) -> dict[str, dict[str, float]]:
    """Only of users that a file of this mode can serve."""
    return quality if mode in ("full", "personal") else {"folded": quality["folded"]}


def trained_score(run: Trained, table: Table) -> float:
    """Validation NDCG@20 of trained users, by a table of a run."""
    vectors = run.recommender.vectors(run.graph, table)
    return encoded_quality(vectors, None, run.split, run.split.valid)["trained"]["ndcg@20"]
