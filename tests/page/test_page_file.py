"""The page as a file: whole, closed, and refused for a model that cannot be read. No browser needed."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from sparserec.device.errors import WrongChecksum
from sparserec.export.page import reader_folder, write_page


def test_holds_the_model_and_names_its_scripts_by_hash(model_file: Path, page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    (model,) = re.findall(r'base64">([^<]*)</script>', text)
    assert base64.b64decode(model) == model_file.read_bytes()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    scripts = [
        body
        for kind, body in re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
        if "base64" not in kind
    ]
    assert len(scripts) == 2
    for body in [*scripts, *re.findall(r"<style>(.*?)</style>", text, re.DOTALL)]:
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert (
        policy[1].startswith("default-src 'none'") and "unsafe" not in policy[1] and "http" not in policy[1]
    )


def test_names_no_address_and_no_way_to_reach_one(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^'\" )]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|@import|\burl\(", text)
    assert "{{" not in text and "import {" not in text and "\nexport " not in text


def test_title_is_escaped(tmp_path: Path, model_file: Path) -> None:
    write_page(tmp_path / "page.html", model_file, "<Jack> & {{model}}")
    assert "<h1>&lt;Jack&gt; &amp; {{model}}</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_model_that_cannot_be_read_leaves_the_old_page(tmp_path: Path, model_file: Path) -> None:
    bad, page = tmp_path / "bad.srec", tmp_path / "page.html"
    data = bytearray(model_file.read_bytes())
    data[-1] ^= 1
    bad.write_bytes(data)
    page.write_text("old")
    with pytest.raises(WrongChecksum):
        write_page(page, bad)
    assert page.read_text() == "old"


def test_every_module_of_the_page_is_used_and_declares_its_own_names(page_file: Path) -> None:
    """Modules share one scope on the page: a name declared twice would silently replace the first."""
    text = page_file.read_text(encoding="utf-8")
    template = Path(reader_folder.__code__.co_filename).parent / "page_template"
    declared: dict[str, str] = {}
    for file in [*template.glob("*.js"), *reader_folder().glob("*.js")]:
        source = file.read_text(encoding="utf-8")
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)", source, re.MULTILINE
        ):
            assert name not in declared, f"{name} is declared in {declared.get(name)} and in {file.name}"
            declared[name] = file.name
    for file in template.glob("*.js"):
        assert any(f"function {name}" in text for name, owner in declared.items() if owner == file.name), (
            file.name
        )
