"""A trained model to ask: from a run folder, an exported file, or fresh from `fit`."""

from sparserec.serving.answers import Explanation, Recommendations
from sparserec.serving.api import fit, load
from sparserec.serving.file_model import FileModel
from sparserec.serving.model import Model
from sparserec.serving.questions import QuestionError, UnknownItemError, UnknownUserError

__all__ = [
    "Explanation",
    "FileModel",
    "Model",
    "QuestionError",
    "Recommendations",
    "UnknownItemError",
    "UnknownUserError",
    "fit",
    "load",
]
