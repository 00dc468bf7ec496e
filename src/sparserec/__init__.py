"""Graph recommenders whose embedding table is sparse from the first training step to the device.

    import sparserec

    model = sparserec.fit("visits.csv")
    print(model.recommend(user="u42", k=5))
    model.save("my-model")

`sparserec.device` reads exported models with numpy alone, so nothing heavy is imported before it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.lazy import lazy_names

if TYPE_CHECKING:
    from sparserec.errors import SparserecError
    from sparserec.serving import FileModel, Model, Recommendations, fit, load

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "errors": ("SparserecError",),
        "serving": ("FileModel", "Model", "Recommendations", "fit", "load"),
    },
)
