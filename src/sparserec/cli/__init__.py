"""The `sparserec` command: one file per command, listed here."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point: user mistakes print one message and exit 2; defects keep their traceback."""
    from sparserec.cli.app import build_app
    from sparserec.errors import SparserecError

    try:
        build_app()()
    except SparserecError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
