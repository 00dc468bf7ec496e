"""A search over settings that validation decides, in a folder that several processes may share (extra `tune`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.tuning.figure import trials_figure
    from sparserec.tuning.outcome import Outcome, Trial
    from sparserec.tuning.search import Effort, search_settings
    from sparserec.tuning.space import Searched, search_space, with_values

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
