"""The `sparserec` command: one file per command, listed in commands.py."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Entry point: user mistakes print one message and exit 2; defects keep their traceback.

    A file that cannot be read or written is the user's to put right, so it is named and not traced. Without typer,
    which comes with the extra `train`, the command line is that of the reader.
    """
    from sparserec.cli.typed import as_typed
    from sparserec.errors import SparserecError
    from sparserec.extras import extras_named
    from sparserec.process import wait_passively
    from sparserec.visible import visible

    wait_passively()
    try:
        if find_spec("typer") is None:
            from sparserec.cli.reader import run_reader

            run_reader(sys.argv[1:])
            return
        from sparserec.cli.app import build_app

        with extras_named("this command"):
            build_app(*sys.argv[1:2])()
    except SparserecError as error:
        print(f"error: {visible(as_typed(str(error)), lines=True)}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        advice = "check the path, your permissions and the room on the disk"
        print(f"error: {error.filename}: {error.strerror}; {advice}", file=sys.stderr)
        sys.exit(2)
