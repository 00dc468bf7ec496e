"""One self-contained HTML page from a model file: it recommends offline, from a folder, with no server.

The page holds the JavaScript reader, the model as base64 and its own script and style. A content security policy names
the exact scripts by hash and forbids every connection, so what a visitor likes cannot leave the page.
"""

from __future__ import annotations

import base64
import hashlib
import html
import inspect
import json
import re
from pathlib import Path

from sparserec.device import READERS, Model, loads
from sparserec.errors import SparserecError
from sparserec.export.page_colour import DEFAULT_COLOUR, check_colour, colour_style
from sparserec.files import write_text

DEFAULT_TITLE = "Recommendations"
_TEMPLATE = Path(__file__).parent / "page_template"
_IMPORT = re.compile(r"^import\s[^;]*?from '\./([\w.]+)'\n", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_TYPE = re.compile(r"/\*\* @type [^\n]*?\*/ ?")


def write_page(path: Path, model_file: Path, title: str | None = None, colour: str | None = None) -> None:
    """Write the page for a model file; a file that the reader would refuse is refused here, with the same named error.

    `title` stands on top; `colour` (#rrggbb) is that of links and pressed buttons.
    """
    own = None if colour is None else check_colour(colour)
    data = Path(model_file).read_bytes()
    model = loads(data)
    model.self_test()
    write_text(Path(path), page_text(data, title or DEFAULT_TITLE, own, _twins(model)))


def page_text(model: bytes, title: str, colour: str | None = None, twins: str = "") -> str:
    """The whole document."""
    reader = _bundle("engine.js", _TEMPLATE, reader_folder()) + twins
    engine = f"const sparserecEngine = (() => {{\n'use strict'\n{reader}return {{ openEngine, serveEngine }}\n}})()\n"
    script = _bundle("page.js", _TEMPLATE)
    style = _read(_TEMPLATE / "page.css") + ("" if colour is None else colour_style(colour))
    values = {
        "policy": _policy([engine, script], style),
        "title": html.escape(title),
        "accent": (colour or DEFAULT_COLOUR).removeprefix("#"),
        "style": style,
        "engine": engine,
        "script": script,
        "model": base64.b64encode(model).decode("ascii"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _read(_TEMPLATE / "template.html"))


def reader_folder() -> Path:
    """Where the JavaScript reader lies: inside an installed package, or beside `src` in a checkout."""
    packaged = Path(__file__).parent / "js"
    checkout = Path(__file__).parents[3] / "js" / "src"
    for folder in (packaged, checkout):
        if (folder / "model.js").is_file():
            return folder
    raise SparserecError(
        f"the JavaScript reader is missing: looked in {packaged} and {checkout}; install sparserec again"
    )


def _bundle(entry: str, *folders: Path) -> str:
    """A module and those it imports as one script, each after what it needs; names are unique across them."""
    parts: dict[str, str] = {}
    _visit(entry, folders, parts)
    return "".join(parts.values())


def _twins(model: Model) -> str:
    """Readers of tables that a package from outside brings: the JavaScript beside its Python, of the same name."""
    found = []
    for tensor, read in READERS.items():
        stored = any(name.endswith(f".{tensor}") for name in model.container.entries)
        if stored and not read.__module__.startswith("sparserec."):
            file = Path(inspect.getfile(read)).with_suffix(".js")
            exported = (
                re.search(r"^export function (\w+)", _read(file), re.MULTILINE) if file.is_file() else None
            )
            if exported is None:
                raise SparserecError(f"{file}: must export the function that reads {tensor!r} in a page")
            source = re.sub(r"^import [^;]*? from '.*'\n", "", _read(file), flags=re.MULTILINE)
            found.append(f"{_plain(source)}READERS[{json.dumps(tensor)}] = {exported[1]}\n")
    return "".join(found)


def _plain(source: str) -> str:
    """A module without what only modules and editors need."""
    return re.sub(r"^export ", "", _TYPE.sub("", _COMMENT.sub("", source)), flags=re.MULTILINE)


def _visit(name: str, folders: tuple[Path, ...], parts: dict[str, str]) -> None:
    source = _read(next(folder / name for folder in folders if (folder / name).is_file()))
    for needed in _IMPORT.findall(source):
        if needed not in parts:
            _visit(needed, folders, parts)
    parts[name] = _plain(_IMPORT.sub("", source))


def _read(file: Path) -> str:
    # the browser hashes what it parsed, with line ends made one character: so do we
    text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    if file.suffix != ".html" and re.search(r"</(script|style)|<!--", text, re.IGNORECASE):
        raise SparserecError(f"{file}: holds text that would end a script inside a page")
    return text


def _policy(scripts: list[str], style: str) -> str:
    """No connection of any kind; only these scripts, this style, and a worker made from the page itself."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; worker-src blob:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
