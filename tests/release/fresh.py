"""Fresh environments on every Python of this machine, and commands out of reach of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from absent import absent

ROOT = Path(__file__).parents[2]
OLDEST, NEWEST = 11, 16
"""Minor versions of Python 3 that are looked for."""


def run(*words: object, cwd: Path, timeout: float = 1800, fails: bool = False) -> str:
    """What a command prints; the packages of the tree are out of its reach."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, text=True, timeout=timeout,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, f"{' '.join(map(str, words))}\n{done.stdout}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, program: str, *words: object, cwd: Path | None = None, fails: bool = False) -> str:
        return run(self.folder / "bin" / program, *words, cwd=cwd or self.folder, fails=fails)

    def install(self, *words: object) -> None:
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words)


def new_environment(python: str, folder: Path) -> Environment:
    run(python, "-m", "venv", folder, cwd=folder.parent)
    return Environment(folder)


@cache
def pythons() -> dict[str, str]:
    """Versions of Python that this machine has, by version: on the path, or among those of pyenv."""
    own = f"3.{sys.version_info.minor}"
    found = {own: sys.executable}
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(OLDEST, NEWEST + 1):
        name = f"3.{minor}"
        candidates = [*sorted(versions.glob(f"{name}.*/bin/python")), shutil.which(f"python{name}")]
        working = [str(one) for one in candidates if one and _works(str(one), name)]
        if working:
            found.setdefault(name, working[-1])
    return found


def _works(python: str, name: str) -> bool:
    """A name on the path may be a stand-in for a version that is not installed."""
    program = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True)
    return done.stdout.strip() == name


def tool(name: str) -> str:
    return shutil.which(name) or absent(f"{name} is not installed")
