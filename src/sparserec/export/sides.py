"""The two models of an export: the one that chooses and is measured, and the one that is shipped; often the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparserec.encodings import Chosen, EncodedLists, EncodedVectors, Encoding, Learnt, Material
from sparserec.export.choose import Measure
from sparserec.export.learn import TRIAL, choose_lesson, learn_encoding, lesson_of
from sparserec.export.options import ExportOptions
from sparserec.progress import say
from sparserec.recommenders import Vectors, graph_of
from sparserec.runs import Trained
from sparserec.vectors import make_vectors


@dataclass(frozen=True, eq=False)
class Side:
    """One of them, and the tables that a file can have of it."""

    run: Trained
    ids: Any
    """Of the items of the file."""
    options: ExportOptions
    quiet: bool
    measured: Side | None = None
    """The one that chooses, where it is another."""

    @cached_property
    def items(self) -> np.ndarray:
        """Those of the file, as this model numbers them."""
        return self.run.split.train.item_ids.index_of(self.ids)

    @cached_property
    def vectors(self) -> Vectors:
        return make_vectors(self.run.recommender, self.run.graph, self.run.table)

    @cached_property
    def full_lengths(self) -> np.ndarray:
        """Of vectors of items where the graph is all that is known, as in mode full."""
        graph = graph_of(self.run.recommender, self.run.split.everything())
        return np.linalg.norm(make_vectors(self.run.recommender, graph, self.run.table).items, axis=1)

    @cached_property
    def chosen(self) -> Chosen:
        return Chosen(self.run.split, self.quiet) if self.measured is None else self.measured.chosen

    @cached_property
    def material(self) -> Material:
        return Material(self.vectors, self.run.split.train, self.chosen, self.options.list_users)

    def encoded(self, one: Encoding) -> EncodedVectors | EncodedLists:
        """The tables of the file."""
        return self.learnt(one)(self.items) if one.learnt else one.of.encode(one, self.material, self.items)

    def learnt(self, one: Encoding) -> Learnt:
        """Codes are learnt once: choosing, measuring and writing see the same."""
        return self.material.once(one, lambda: self._learn(one))

    def _learn(self, one: Encoding) -> Learnt:
        lesson = lesson_of(self.run.recommender, self.vectors, self.run.split.train)
        if (temperature := (self.measured or self).temperature) is not None:
            lesson = lesson.with_temperature(temperature)
        return learn_encoding(self.vectors, one, lesson, self.quiet)

    @cached_property
    def temperature(self) -> float | None:
        """Of learning rows of a graph base, chosen once for a run; None: that of its training."""
        if self.run.recommender.learns_codes or len(self.run.split.valid) == 0:
            return None
        say("choosing the temperature that rows are learnt with", self.quiet)
        measure = Measure(self.vectors, self.run.split, 0)
        lesson = lesson_of(self.run.recommender, self.vectors, self.run.split.train)
        return choose_lesson(lesson, self.vectors, lambda made: measure.point(TRIAL, made).score).temperature
