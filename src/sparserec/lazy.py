"""Packages that import a name at its first use (PEP 562), so that asking for one thing does not load
torch for another.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sparserec.extras import extras_named


def lazy_names(
    package: str, names: dict[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package that exports these names of its modules.

    No name may be that of a module of the package: an imported module would hide it.
    """
    home = {name: module for module, exported in names.items() for name in exported}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it has {', '.join(sorted(home))}"
            )
        with extras_named(f"{package}.{name}"):
            return getattr(import_module(f"{package}.{home[name]}"), name)

    return get, lambda: sorted(home), sorted(home)
