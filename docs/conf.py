"""How the site is built; `make docs` calls docs/build.py, which calls Sphinx with this."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import sparserec

DOCS = Path(__file__).parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(?:#[^)\s]*)?\)")

project = "sparserec"
author = "the sparserec authors"
version = release = sparserec.__version__
html_title = f"sparserec {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
exclude_patterns = ["_live"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_live"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6b5f", "color-brand-content": "#0b6b5f"},
    "dark_css_variables": {"color-brand-primary": "#5cc9b6", "color-brand-content": "#5cc9b6"},
}
pygments_style, pygments_dark_style = "friendly", "native"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "literal"  # docstrings write names between single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
suppress_warnings = ["ref.python"]  # two classes are called Model, the trained one and that of the reader

nb_execution_mode = os.environ.get("SPARSEREC_NOTEBOOKS", "cache")
nb_execution_cache_path = str(DOCS.parent / ".jupyter_cache")
nb_execution_timeout = 1800
nb_execution_raise_on_error = True
nb_output_stderr = "remove"


def setup(app: Any) -> None:
    """Pages are written for readers of the repository; two habits of theirs are put right for the site."""
    app.connect("source-read", _for_the_site)


def _for_the_site(app: Any, name: str, source: list[str]) -> None:
    page = DOCS / name
    if name.endswith(("api", "cli")) or not page.with_suffix(".md").exists():
        return
    # what tests read after the language of a code block: a file name, not-run
    text = re.sub(r"^(\s*```)(\w+) [^\n`]+$", r"\1\2", source[0], flags=re.MULTILINE)
    source[0] = LINK.sub(lambda found: _link(page.parent, found), text)


def _link(folder: Path, found: re.Match[str]) -> str:
    """A link as it is, or the words alone where it leads out of docs: the site has no such page."""
    target = (folder / found[2]).resolve()
    return found[0] if "://" in found[2] or target.is_relative_to(DOCS) else f"{found[1]}"
