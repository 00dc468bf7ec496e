"""Train a recommender on your log, sparse item vectors by default, and ship it as one file of a megabyte or less that a
phone or a browser answers from, with no server.

    import sparserec

    model = sparserec.fit("visits.csv")
    print(model.recommend(user="u42", k=5))
    model.save("my-model")

Exported models are read with numpy alone (`sparserec.load("model.srec")`, `sparserec.device`), so nothing heavy is
imported before it is asked for. Training is in the extra `train`: pip install 'sparserec[train]'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparserec.extras import lazy_names

if TYPE_CHECKING:
    from sparserec.errors import SparserecError
    from sparserec.runs import Observer
    from sparserec.serving import FileModel, Model, Recommendations, compare, fit, load, pack, tune

__version__ = "0.2.0"
SENTENCE = (
    "Train a recommender on your log, sparse item vectors by default, and ship it as one file of a megabyte or less "
    "that a phone or a browser answers from, with no server."
)
"""What sparserec is, in the words that the help, the README and the package page use too."""

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
