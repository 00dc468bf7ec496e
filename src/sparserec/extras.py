"""Packages that only a part of sparserec needs, and the one line that says how to get them.

`pip install sparserec` brings numpy and the reader; everything else is an extra of pyproject.toml.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from sparserec.errors import SparserecError

EXTRAS: dict[str, tuple[str, ...]] = {
    "train": (
        "torch", "scipy", "sklearn", "pyarrow", "narwhals", "safetensors", "pydantic", "typer", "rich", "numba",
        "psutil", "platformdirs", "tomli_w",
    ),
    "plots": ("matplotlib",),
    "tune": ("optuna",),
    "mlflow": ("mlflow", "sqlalchemy", "alembic"),
    "tensorboard": ("tensorboardX",),
}  # fmt: skip
"""What each extra brings, by the name it is imported under; a test holds it to pyproject.toml."""


class MissingExtraError(SparserecError, ImportError):
    """A package that was asked for is in an extra that is not installed."""


@contextmanager
def extras_named(what: str) -> Iterator[None]:
    """Whoever asks for `what` and lacks a package reads which extra to install, and not only the package's name."""
    try:
        yield
    except (
        ModuleNotFoundError,
        MissingExtraError,
    ) as error:  # the outermost question is the one that was asked
        package = (error.name or "").split(".")[0]
        extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        raise MissingExtraError(
            f"{what} needs {package}, which is not installed: pip install 'sparserec[{extra}]'", name=package
        ) from None


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package that imports a name at its first use (PEP 562), so that
    asking for one thing does not load torch for another. Its `file` lists them, under `if TYPE_CHECKING`.

    No name may be that of a module of the package: an imported module would hide it.
    """
    blocks = [node for node in ast.parse(Path(file).read_bytes()).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    home = {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it has {', '.join(sorted(home))}"
            )
        with extras_named(f"{package}.{name}"):
            return getattr(import_module(home[name]), name)

    return get, lambda: sorted(home), sorted(home)
