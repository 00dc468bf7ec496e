"""Write the conformance folders: `python conformance/make.py` from the repository, or with a folder to
write them to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from added import added_golden, added_malformed
from golden import expected_results, golden_files, to_json
from latest import latest_golden, latest_malformed
from malformed import malformed_files
from rules import rule_golden, rule_malformed

VERSIONS = {
    "v1": (golden_files, malformed_files),
    "v1.1": (
        lambda: chain(added_golden(), rule_golden()),
        lambda: chain(added_malformed(), rule_malformed()),
    ),
    "v1.2": (latest_golden, latest_malformed),
}


def conformance_files(version: str) -> Iterator[tuple[str, bytes]]:
    """Relative path and content of every file of a version, the index last."""
    golden, malformed = [], []
    make_golden, make_malformed = VERSIONS[version]
    for name, data in make_golden():
        yield f"golden/{name}.srec", data
        yield f"golden/{name}.json", to_json(expected_results(data))
        golden.append({"file": f"golden/{name}.srec", "expected": f"golden/{name}.json"})
    for name, error, data in make_malformed():
        yield f"malformed/{name}.srec", data
        malformed.append({"file": f"malformed/{name}.srec", "error": error})
    yield "index.json", to_json({"golden": golden, "malformed": malformed})


def main(folder: Path) -> None:
    for version in VERSIONS:
        written = 0
        for name, data in conformance_files(version):
            path = folder / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            written += len(data)
        print(f"{written:,} bytes in {folder / version}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
