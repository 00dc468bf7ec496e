"""The two models of an export: the one that chooses and is measured, and the one that is shipped; often the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sparserec.device import ItemTerm
from sparserec.encodings import Chosen, Encoded, Encoding, FileQuality, Learnt, Material, popularity_quality
from sparserec.export.choose import SHARE_TO_LOSE, Measure
from sparserec.export.learn import TRIAL, choose_lesson, learn_encoding, lesson_of
from sparserec.export.options import ExportOptions
from sparserec.export.term import choose_term
from sparserec.progress import say
from sparserec.recommenders import Vectors
from sparserec.runs import Trained

Quality = dict[str, dict[str, dict[str, float]]]
"""Metrics by stage (float, file, popularity) and group of users."""

NEW_USERS = "new users"
"""The group of users who were held out whole; they can be measured on the test part only."""


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
    terms: dict[Encoding, ItemTerm | None] = field(default_factory=dict)
    """Of the encodings for which one was looked for, of the one that chooses."""

    @cached_property
    def items(self) -> np.ndarray:
        """Those of the file, as this model numbers them."""
        return self.run.split.train.item_ids.index_of(self.ids)

    @cached_property
    def vectors(self) -> Vectors:
        return self.run.recommender.vectors(self.run.graph, self.run.table)

    @cached_property
    def full_lengths(self) -> np.ndarray:
        """Of vectors of items where the graph is all that is known, as in mode full."""
        graph = self.run.recommender.graph(self.run.split.everything())
        return np.linalg.norm(self.run.recommender.vectors(graph, self.run.table).items, axis=1)

    @cached_property
    def chosen(self) -> Chosen:
        return Chosen(self.run.split, self.quiet) if self.measured is None else self.measured.chosen

    @cached_property
    def material(self) -> Material:
        return Material(self.vectors, self.run.split.train, self.chosen, self.options.list_users)

    def encoded(self, one: Encoding) -> Encoded:
        """The tables of the file, and the term that was chosen."""
        return replace(self._tables(one, self.items), term=(self.measured or self).terms.get(one))

    def choose_term(self, one: Encoding) -> None:
        """What goes with an encoding, on validation."""
        split = self.run.split
        if self.options.term and len(split.valid) and one not in self.terms:
            encoded = self._tables(one, np.arange(split.n_items))
            self.terms[one] = choose_term(self.vectors, encoded, split, self.chosen.truth)

    def _tables(self, one: Encoding, items: np.ndarray) -> Encoded:
        return self.learnt(one)(items) if one.learnt else one.of.encode(one, self.material, items)

    def learnt(self, one: Encoding) -> Learnt:
        """Codes are learnt once: choosing, measuring and writing see the same."""
        return self.material.once(one, lambda: self._learn(one))

    def _learn(self, one: Encoding) -> Learnt:
        lesson = lesson_of(self.run.recommender, self.vectors, self.run.split.train)
        if (temperature := (self.measured or self).temperature) is not None:
            lesson = lesson.with_temperature(temperature)
        return learn_encoding(self.vectors, one, lesson, self.quiet)

    def quality(self, encoded: Encoded | None, bits: int) -> tuple[Quality, bool]:
        """Float first, then as the file has it, then popularity; and whether the test part was opened for it.

        Without a validation part nothing is measured. A file of mode items knows nobody, so trained users have no row;
        mode full has nothing `encoded`, but a table of so many bits. Users of a split that holds users out whole are
        folded in from what is given of them; a search leaves the test part closed, and them unmeasured.
        """
        run, split, quality = self.run, self.run.split, Quality()
        read = self.vectors if encoded is not None else self.quantised(bits)
        exact, file = FileQuality(self.vectors, split), FileQuality(read, split, encoded, self.items)
        if len(split.valid):
            quality = {"float": exact.metrics(split.valid), "file": file.metrics(split.valid)}
            if self.options.mode == "items":
                quality = {stage: {"folded": found["folded"]} for stage, found in quality.items()}
            quality["popularity"] = {"all": popularity_quality(split, split.valid)}
        opened = split.given is not None and run.config.open_test
        if opened:
            quality["float"][NEW_USERS] = exact.new_users()
            quality["file"][NEW_USERS] = file.new_users()
            quality["popularity"][NEW_USERS] = popularity_quality(split, split.test, at_test=True)
        return quality, opened

    def quantised(self, bits: int) -> Vectors:
        """Those of a table of so many bits."""
        return self.run.recommender.vectors(self.run.graph, self.run.table.quantised(bits))

    def good_at_four_bits(self) -> bool:
        """Whether trained users lose next to nothing of their validation NDCG@20 by a table of 4 bits."""
        split = self.run.split
        exact, rounded = (
            FileQuality(vectors, split).metrics(split.valid)["trained"]["ndcg@20"]
            for vectors in (self.vectors, self.quantised(4))
        )
        return rounded >= (1 - SHARE_TO_LOSE) * exact

    @cached_property
    def temperature(self) -> float | None:
        """Of learning rows of a graph base, chosen once for a run; None: that of its training."""
        if self.run.recommender.learns_codes or len(self.run.split.valid) == 0:
            return None
        say("choosing the temperature that rows are learnt with", self.quiet)
        measure = Measure(self.vectors, self.run.split, 0)
        lesson = lesson_of(self.run.recommender, self.vectors, self.run.split.train)
        return choose_lesson(
            lesson, self.vectors, lambda encoded: measure.point(TRIAL, encoded).score
        ).temperature
