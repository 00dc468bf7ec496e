"""Graph recommenders whose embedding table is sparse from the first training step to the device.

    import sparserec

    model = sparserec.fit("visits.csv")
    print(model.recommend(user="u42", k=5))
    model.save("my-model")

`sparserec.device` reads exported models with numpy alone, so nothing heavy is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparserec.errors import SparserecError
    from sparserec.serving import FileModel, Model, Recommendations, fit, load

__version__ = "0.1.0"

_WHERE = {
    "FileModel": "sparserec.serving",
    "Model": "sparserec.serving",
    "Recommendations": "sparserec.serving",
    "SparserecError": "sparserec.errors",
    "fit": "sparserec.serving",
    "load": "sparserec.serving",
}

__all__ = ["FileModel", "Model", "Recommendations", "SparserecError", "__version__", "fit", "load"]


def __getattr__(name: str) -> Any:
    """Import what is asked for at the first use of its name."""
    if name not in _WHERE:
        raise AttributeError(f"module 'sparserec' has no attribute {name!r}; it has {', '.join(_WHERE)}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
