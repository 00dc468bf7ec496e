"""The `sparserec` command: one file per command, listed here."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point: user mistakes print one message and exit 2; defects keep their traceback.

    A file that cannot be read or written is the user's to put right, so it is named and not traced.
    """
    # torch and numba have a pool of threads each. By default the idle pool spins and takes the cores from the busy
    # one: sleeping instead makes a step up to four times faster on a machine that does anything else. OpenMP reads
    # this when it is loaded, so it comes before any import of torch.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from sparserec.cli.app import build_app
    from sparserec.cli.options import as_typed
    from sparserec.errors import SparserecError

    try:
        build_app()()
    except SparserecError as error:
        print(f"error: {as_typed(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        advice = "check the path, your permissions and the room on the disk"
        print(f"error: {error.filename}: {error.strerror}; {advice}", file=sys.stderr)
        sys.exit(2)
