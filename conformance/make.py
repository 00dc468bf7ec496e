"""Write the conformance folder: `python conformance/make.py` from the repository, or with a folder to write to."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from golden import expected_results, golden_files, to_json
from malformed import malformed_files


def conformance_files() -> Iterator[tuple[str, bytes]]:
    """Relative path and content of every file, the index last."""
    golden, malformed = [], []
    for name, data in golden_files():
        yield f"golden/{name}.srec", data
        yield f"golden/{name}.json", to_json(expected_results(data))
        golden.append({"file": f"golden/{name}.srec", "expected": f"golden/{name}.json"})
    for name, error, data in malformed_files():
        yield f"malformed/{name}.srec", data
        malformed.append({"file": f"malformed/{name}.srec", "error": error})
    yield "index.json", to_json({"golden": golden, "malformed": malformed})


def main(folder: Path) -> None:
    written = 0
    for name, data in conformance_files():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        written += len(data)
    print(f"{written:,} bytes in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "v1")
