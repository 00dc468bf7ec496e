"""A trained model to ask: from a run folder, an exported file, or fresh from `fit`."""

from sparserec.serving.answers import Explanation, Recommendations
from sparserec.serving.file_model import FileModel
from sparserec.serving.fitting import fit
from sparserec.serving.model import Model
from sparserec.serving.opening import load
from sparserec.serving.problems import QuestionError, UnknownItemError, UnknownUserError

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
