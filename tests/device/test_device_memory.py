"""No file takes more than docs/format.md allows, ten times its bytes and a mebibyte: files made to take much are either
refused before anything is unpacked, or stay below that, in Python and in JavaScript.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from files import Tensor
from latest import one_bit_classes
from rules import bomb, bombs, codes, empty_rows, one_bit_gaps, sized

from absent import absent
from fuzz_python import ask
from sparserec.device import errors, loads
from sparserec.device.container import parse
from sparserec.device.memory_limit import CONSTANT, FACTOR, MemoryLimit, column_bytes
from sparserec.device.model import read_model

ROOT = Path(__file__).parents[2]
SCRATCH = 2 << 20
"""What a reader may use besides: blocks of a fixed size."""
VECTORS = 6
"""Over rows and columns, of eight bytes a number, while a question is answered."""
JS_NOISE = 8 << 20
"""By which the resident memory of a Node process grows whatever it does."""


def many_tables(tables: int) -> dict[str, Tensor]:
    """Each of one row of 4,096 entries: as many rounds of gaps."""
    found = one_bit_gaps("score", 1, 4096)
    for number in range(tables - 1):
        found |= one_bit_gaps(f"fold.{number}", 1, 4096)
    return found


def emoji_ids(count: int) -> dict[str, Tensor]:
    """Ascending texts of which one character in each takes four bytes, which is what Python then gives to all."""
    texts = [f"{number:06d}\U0001f355".encode() for number in range(count)]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    return sized("score", "size", 0) | {
        "item.id.offset": Tensor("U32", [count + 1], ends.tobytes()),
        "item.id.text": Tensor("U8", [int(ends[-1])], b"".join(texts)),
    }


NEAR_THE_LIMIT = {
    "all columns, 1 bit": lambda: bomb(1000, sized("score", None, 8192, 1000), dim=8192),
    "all columns, 1 bit, many rows": lambda: bomb(60_000, sized("score", None, 128, 60_000), dim=128),
    "gaps of 1 bit": lambda: bomb(16_000, one_bit_gaps("score", 16_000, 256), dim=256),
    "gap classes of 1 bit": lambda: bomb(16_000, one_bit_classes("score", 16_000, 128), dim=256),
    "prefixes of 2 bits": lambda: bomb(16_000, sized("score", "size", 256, 16_000, bits=2), dim=256),
    "rows of nothing": lambda: bomb(70_000, sized("score", "size", 0), dim=65536),
    "codes of 1 bit": lambda: bomb(
        100_000, codes("score", 100_000, 64, 2) | sized("score.book", None, 1, 128), dim=64
    ),
    "slices of nothing": lambda: bomb(1, codes("score", 1, 32768, 2) | empty_rows("score.book"), dim=65536),
    "long rows in 9 tables": lambda: bomb(
        1, many_tables(9), self_loops=True, fold_tables=8, fold_in=None, dim=4096
    ),
    "ids": lambda: bomb(60_000, emoji_ids(60_000), item_ids="string"),
}
BEYOND = {
    "prefixes of 1 bit": lambda: bomb(16_000, sized("score", "size", 256, 16_000), dim=256),
    "wide gap classes of 1 bit": lambda: bomb(1000, one_bit_classes("score", 1000, 4096), dim=4096),
    "wide gaps of 1 bit": lambda: bomb(1000, one_bit_gaps("score", 1000, 4096), dim=4096),
    "codebooks of 34 kB": lambda: bomb(
        1, codes("score", 1, 32768, 256) | empty_rows("score.book"), dim=65536
    ),
    "lists": lambda: bomb(3000, one_bit_gaps("lists", 3000, 3000), mode="neighbours"),
} | {name: (lambda data=data: data) for name, _, data in bombs()}


def allowed(data: bytes) -> int:
    return FACTOR * len(data) + CONSTANT


def peak_of(data: bytes, question: bool) -> int:
    """Bytes allocated at once by loading a file, or by loading it and asking it everything."""
    tracemalloc.start()
    try:
        ask(data) if question else loads(data)
        return tracemalloc.get_traced_memory()[1]
    except errors.TooLarge:
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", NEAR_THE_LIMIT)
def test_what_is_opened_stays_below_the_limit(name: str) -> None:
    data = NEAR_THE_LIMIT[name]()
    began = time.process_time()
    model = loads(data)
    spent = time.process_time() - began
    vectors = 8 * VECTORS * (model.profile.items + model.profile.dim)
    del model
    assert peak_of(data, question=False) <= allowed(data) + SCRATCH
    assert peak_of(data, question=True) <= allowed(data) + SCRATCH + vectors
    assert spent < 20, "seconds of processor time, for a file of a megabyte"


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_is_refused_before_it_is_unpacked(name: str) -> None:
    data = BEYOND[name]()
    with pytest.raises(errors.TooLarge, match="10 times the file"):
        loads(data)
    # tables before the one that is too much are unpacked, and the header, which is not counted, is parsed
    assert peak_of(data, question=False) <= allowed(data) + SCRATCH // 2


def test_the_count_is_that_of_the_page() -> None:
    """100 items in 16 columns as prefixes: 12 an item, 12 a row, 2 an entry; then one byte less than that."""
    data = bomb(100, sized("score", "size", 16, 100), dim=16)
    counted = 100 * 12 + 100 * 12 + 100 * 16 * 2
    limit = MemoryLimit(counted)
    assert read_model(replace(parse(data), limit=limit)).profile.items == 100
    assert limit.left == 0
    with pytest.raises(errors.TooLarge):
        read_model(replace(parse(data), limit=MemoryLimit(counted - 1)))


def test_columns_take_what_they_take() -> None:
    assert [column_bytes(columns) for columns in (None, 1, 256, 257, 65536, 65537)] == [0, 1, 1, 2, 2, 4]


SCRIPT = """
import { readFileSync } from 'node:fs'
import { loadSync } from '%s/js/index.js'
const [warm, ...files] = process.argv.slice(1).map(path => readFileSync(path))
loadSync(warm).similar({ item: loadSync(warm).recommend({ history: [] })[0].id })
const out = []
for (const data of files) {
  const before = process.resourceUsage().maxRSS
  let error = null
  try { loadSync(data) } catch (found) { error = found.name }
  out.push({ error, grown: 1024 * (process.resourceUsage().maxRSS - before) })
}
console.log(JSON.stringify(out))
"""


@pytest.mark.parametrize(
    "name",
    ["all columns, 1 bit", "gaps of 1 bit", "gap classes of 1 bit", "prefixes of 2 bits", "codes of 1 bit"],
)
def test_javascript_stays_below_too(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        absent("node is not installed: the JavaScript reader is not tested")
    files = {"near": NEAR_THE_LIMIT[name](), "beyond": BEYOND["prefixes of 1 bit"]()}
    for key, data in files.items():
        (tmp_path / key).write_bytes(data)
    warm = ROOT / "conformance" / "v1.1" / "golden" / "items-gaps-4-unit.srec"
    command = [
        node,
        "--input-type=module",
        "-e",
        SCRIPT % ROOT,
        str(warm),
        str(tmp_path / "beyond"),
        str(tmp_path / "near"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    beyond, near = json.loads(done.stdout)
    assert beyond["error"] == "TooLarge" and beyond["grown"] <= JS_NOISE
    assert near["error"] is None and near["grown"] <= allowed(files["near"]) + JS_NOISE
