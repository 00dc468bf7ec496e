"""A trained model to ask: from a run folder, an exported file, or fresh from `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.serving.answers import (
        BASIS_TEXT,
        Explanation,
        ManyRecommendations,
        NamedItem,
        Recommendations,
        name_of,
    )
    from sparserec.serving.any_model import AnyModel
    from sparserec.serving.api import fit, load
    from sparserec.serving.batch import check_out
    from sparserec.serving.comparison import Comparison, compare, compare_runs
    from sparserec.serving.file_model import FileModel
    from sparserec.serving.model import Model
    from sparserec.serving.packing import PackReport, pack
    from sparserec.serving.questions import QuestionError, UnknownItemError, UnknownUserError
    from sparserec.serving.tuned import Tuned, tune

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
