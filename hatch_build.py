"""The README as the page of a package shows it: there, links into the repository lead nowhere.

With an address under `Repository` in `project.urls` they lead to the files there; without one they are plain words, and
pictures are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"""(?:!\[[^\]]*\]\(([^)\s]+)\)|<img src="([^"]+)"[^>]*>)\n*""")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def package_page(readme: str, repository: str | None) -> str:
    """The README with links and pictures that work anywhere."""

    def picture(found: re.Match[str]) -> str:
        place = found[1] or found[2]
        if "://" in place:
            return found[0]
        return found[0].replace(place, f"{repository}/raw/main/{place}", 1) if repository else ""

    def link(found: re.Match[str]) -> str:
        if "://" in found[2] or found[2].startswith("#"):
            return found[0]
        return f"[{found[1]}]({repository}/blob/main/{found[2]})" if repository else found[1]

    return LINK.sub(link, PICTURE.sub(picture, readme))


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme`, which pyproject.toml lists as dynamic."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = package_page(text, metadata.get("urls", {}).get("Repository"))
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
