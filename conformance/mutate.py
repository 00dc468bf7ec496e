"""Structure-aware mutations of model files, for fuzzing any reader.

Most mutants are put together again with right offsets and a right checksum, so that they reach the checks behind the
door. `python conformance/mutate.py --seed 0 --count 1000` writes them to standard output as frames that docs/format.md
describes.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from files import Parts, Tensor, join, lay_out, reseal, take_apart

from sparserec.device import DeviceError, loads

FOLDERS = tuple(Path(__file__).parent / version / "golden" for version in ("v1", "v1.1", "v1.2"))
SIZES = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "U16": 2, "I8": 1, "U8": 1}
ODD_VALUES: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    8,
    9,
    24,
    255,
    256,
    65536,
    2**24,
    2**31,
    2**32,
    2**53,
    2**63,
    1e308,
    0.5,
    16.0,
    True,
    False,
    None,
    "",
    "x",
    "range",
    "int",
    "string",
    "items",
    "full",
    "personal",
    "1.0",
    "2.0",
    "1.9",
    [],
    {},
    [0, 1],
    {"a": 1},
    {"size_power": 0},
    {"size_power": 2},
    "\ud800",
]
POSITION_TENSORS = (
    "mask",
    "index",
    "code",
    "code.value",
    "count.value",
    "size.value",
    "scale.value",
    "slices",
    "gap.length",
    "gap.high",
    "gap.low",
)
RESEALED = 0.95
QUERIES = 2  # golden queries kept in a parent


@dataclass(frozen=True)
class Mutant:
    """A mutated file: where it came from and what was done to it."""

    source: str
    mutations: list[str]
    resealed: bool
    data: bytes


def parents(folders: Sequence[Path] = FOLDERS) -> list[tuple[str, Parts]]:
    """What mutants are made from: the golden files, each taken apart into several with a few golden queries each.

    Small files are mutated, read and asked in half the time, and together they still hold every query.
    """
    found = []
    for path in (path for folder in folders for path in sorted(folder.glob("*.srec"))):
        parts = take_apart(path.read_bytes())
        queries = json.loads(parts.metadata["golden"])
        for first in range(0, len(queries), QUERIES):
            some = parts.copy()
            some.metadata["golden"] = json.dumps(queries[first : first + QUERIES], separators=(",", ":"))
            found.append((path.stem, some))
    return found


def mutants(seed: int, count: int, folders: Sequence[Path] = FOLDERS) -> Iterator[Mutant]:
    """`count` mutants that depend on the seed and the golden files alone."""
    random = Random(seed)
    sources = parents(folders)
    for _ in range(count):
        name, parts = random.choice(sources)
        yield _mutant(random, name, parts.copy(), random.choice(sources)[1])


def _mutant(random: Random, name: str, parts: Parts, donor: Parts) -> Mutant:
    done = []
    for _ in range(random.choice((0, 1, 1, 1, 1, 2, 2, 3))):
        change = random.choice(PARTS_MUTATIONS)
        change(random, parts, donor)
        done.append(change.__name__)
    if random.random() < 0.7:
        parts.tensors = dict(sorted(parts.tensors.items(), key=lambda pair: -SIZES.get(pair[1].dtype, 2)))
    header, payload = lay_out(parts)
    if not done or random.random() < 0.12:
        header_change = random.choice(HEADER_MUTATIONS)
        header_change(random, header)
        done.append(header_change.__name__)
    mutated = join(header, payload, pad=random.random() > 0.01)
    if random.random() < 0.08:
        raw_change = random.choice(RAW_MUTATIONS)
        mutated = raw_change(random, mutated)
        done.append(raw_change.__name__)
    sealed = reseal(mutated)
    resealed = random.random() < RESEALED
    return Mutant(name, done, resealed, sealed if resealed else _flip_anywhere(random, sealed))


def _pick(random: Random, parts: Parts) -> tuple[str, Tensor]:
    return random.choice(list(parts.tensors.items()) or [("none", Tensor("U8", [0], b""))])


def poke_bytes(random: Random, parts: Parts, donor: Parts) -> None:
    """Change a few bytes of a tensor, often only a little."""
    _, tensor = _pick(random, parts)
    data = bytearray(tensor.data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        at = random.randrange(len(data))
        data[at] = random.choice(
            (0, 255, 128, 127, random.randrange(256), (data[at] + 1) % 256, (data[at] - 1) % 256)
        )
    tensor.data = bytes(data)


def poke_element(random: Random, parts: Parts, donor: Parts) -> None:
    """Set an element to an extreme of its type."""
    _, tensor = _pick(random, parts)
    size = SIZES.get(tensor.dtype, 1)
    if len(tensor.data) < size:
        return
    at = random.randrange(len(tensor.data) // size) * size
    value = random.choice(
        (bytes(size), b"\xff" * size, b"\xff" * (size - 1) + b"\x7f", bytes(size - 1) + b"\x80")
    )
    if tensor.dtype in ("F16", "F32", "F64"):
        number = random.choice((float("nan"), float("inf"), -1.0, 0.0, 6e-8, 6e4))
        value = struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], number)
    tensor.data = tensor.data[:at] + value + tensor.data[at + size :]


def poke_float(random: Random, parts: Parts, donor: Parts) -> None:
    """The same among scales, coefficients, lengths and vectors only."""
    floats = {name: tensor for name, tensor in parts.tensors.items() if tensor.dtype in ("F16", "F32", "F64")}
    if floats:
        poke_element(random, Parts({}, floats), donor)


def swap_elements(random: Random, parts: Parts, donor: Parts) -> None:
    """Exchange two neighbours: indices stop ascending, ids stop being sorted."""
    _, tensor = _pick(random, parts)
    size = SIZES.get(tensor.dtype, 1)
    if len(tensor.data) >= 2 * size:
        at = random.randrange(len(tensor.data) // size - 1) * size
        one, other = tensor.data[at : at + size], tensor.data[at + size : at + 2 * size]
        tensor.data = tensor.data[:at] + other + one + tensor.data[at + 2 * size :]


def add_encoding(random: Random, parts: Parts, donor: Parts) -> None:
    """Give a table something of another encoding too."""
    tables = [name.rpartition(".code")[0] for name in parts.tensors if ".code" in name]
    if tables:
        name = f"{random.choice(tables)}.{random.choice(POSITION_TENSORS)}"
        parts.tensors.setdefault(name, Tensor("U8", [8], bytes(range(8))))


def grow_levels(random: Random, parts: Parts, donor: Parts) -> None:
    """More or fewer values for some numbers: their places then take other bits, or name values that are not there."""
    names = [name for name in parts.tensors if name.endswith(".value")]
    if names:
        tensor = parts.tensors[random.choice(names)]
        size = SIZES.get(tensor.dtype, 1)
        count = random.choice((0, 1, 2, 3, 5, 9, 200, 256, 257))
        tensor.data = (tensor.data * (1 + size * count // max(len(tensor.data), 1)))[: size * count]
        tensor.data += bytes(size * count - len(tensor.data))
        tensor.shape = [count]


def shift_gaps(random: Random, parts: Parts, donor: Parts) -> None:
    """Move, add or drop a bit of a stream of gaps: every later one is then another, or they no longer fit
    their rows.
    """
    names = [name for name in parts.tensors if ".gap." in name]
    if names:
        tensor = parts.tensors[random.choice(names)]
        bits = "".join(f"{byte:08b}"[::-1] for byte in tensor.data)
        at = random.randrange(len(bits) + 1)
        bits = random.choice(
            (bits[:at] + bits[at + 1 :] + "0", bits[:at] + "1" + bits[at + 1 :], bits[:at] + "0" + bits[at:])
        )
        bits = bits[: len(bits) // 8 * 8]
        tensor.data = bytes(int(bits[first : first + 8][::-1], 2) for first in range(0, len(bits), 8))
        tensor.shape = [len(tensor.data)]


def change_lengths(random: Random, parts: Parts, donor: Parts) -> None:
    """Another code for the classes of gaps: the same bits then mean other gaps, or it is no code.

    Two lengths that change places leave it one, and so does a length that is split into two.
    """
    names = [name for name in parts.tensors if name.endswith(".gap.length")]
    if not names:
        return
    tensor = parts.tensors[random.choice(names)]
    lengths = list(tensor.data) or [0]
    at, other = random.randrange(len(lengths)), random.randrange(len(lengths))
    kind = random.randrange(5)
    if kind == 0:
        lengths[at], lengths[other] = lengths[other], lengths[at]
    elif kind == 1:
        lengths[at] = min(lengths[at] + 1, 255)
        lengths += [0] * random.choice((0, 0, 12, 22 - min(len(lengths), 22))) + [lengths[at]]
    elif kind == 2:
        lengths = random.choice(
            ([1, 1], [0] * 22 + [1, 1], [8] * 24, [1], [2, 2, 2, 2], [1, 2, 3, 3], [0, 1, 0, 1])
        )
    elif kind == 3:
        lengths[at] = random.choice((0, 1, 2, 7, 8, 9, 255))
    else:
        lengths = lengths[:at] + lengths[at + 1 :]
    tensor.data, tensor.shape = bytes(lengths), [len(lengths)]


def add_term(random: Random, parts: Parts, donor: Parts) -> None:
    """Terms of items, of their own or by their degrees; the coefficients with the name that goes with them, or not."""
    count = random.choice((0, 1, 2, 3, 5, 8, 16, 257))
    if "item.degree.value" in parts.tensors and random.random() < 0.5:
        count = parts.tensors["item.degree.value"].shape[0]
    numbers = [random.choice((0.0, 0.5, -1.0, 3e5, 1e6, -2e6, random.random())) for _ in range(count)]
    parts.tensors["item.term.value"] = Tensor("F32", [count], struct.pack(f"<{count}f", *numbers))
    if random.random() < 0.5 and "item.degree.level" in parts.tensors:
        parts.tensors["item.term.level"] = parts.tensors["item.degree.level"].copy()
    old, new = random.choice(
        (("filter.weight", "filter.coefficient"),) * 6 + (("filter.coefficient", "filter.weight"),)
    )
    parts.tensors = {new if name == old else name: tensor for name, tensor in parts.tensors.items()}


def change_slices(random: Random, parts: Parts, donor: Parts) -> None:
    """Another number of slices or of codebook entries."""
    names = [name for name in parts.tensors if name.endswith(".slices")]
    if names:
        pair = [random.choice((0, 1, 2, 3, 4, 5, 6, 9, 12, 16, 255, 256, 257, 65535)) for _ in range(2)]
        tensor = parts.tensors[random.choice(names)]
        data = struct.pack("<2H", *pair)
        tensor.data = random.choice((data, tensor.data[:2] + data[2:], data[:2] + tensor.data[2:4]))[
            : len(tensor.data)
        ]


def change_version(random: Random, parts: Parts, donor: Parts) -> None:
    """Another version, newer or not one at all."""
    parts.metadata["version"] = random.choice(
        ("2.0", "3.1", "1.1", "1.2", "1.99", "0.9", "1", "1.0.0", "x.y", "١.٠")
    )


def fill(random: Random, parts: Parts, donor: Parts) -> None:
    """Fill a tensor with one byte."""
    _, tensor = _pick(random, parts)
    tensor.data = bytes([random.choice((0, 1, 127, 128, 255))]) * len(tensor.data)


def resize(random: Random, parts: Parts, donor: Parts) -> None:
    """Make a tensor longer or shorter, shape and offsets following."""
    _, tensor = _pick(random, parts)
    size = SIZES.get(tensor.dtype, 1)
    count = len(tensor.data) // size
    wanted = max(
        0, random.choice((count - 1, count + 1, count * 2, count // 2, 0, count + random.randrange(-9, 10)))
    )
    tensor.data = (tensor.data + tensor.data[:size] * max(0, wanted - count) + bytes(wanted * size))[
        : wanted * size
    ]
    tensor.shape = [wanted]


def remove(random: Random, parts: Parts, donor: Parts) -> None:
    """Take a tensor out."""
    name, _ = _pick(random, parts)
    parts.tensors.pop(name, None)


def rename(random: Random, parts: Parts, donor: Parts) -> None:
    """Give a tensor another name, one that means something or one that does not."""
    name, tensor = _pick(random, parts)
    parts.tensors.pop(name, None)
    parts.tensors[random.choice([*donor.tensors, "novel", ""])] = tensor


def begin_alike(random: Random, parts: Parts, donor: Parts) -> None:
    """A tensor nobody knows, with a name that begins like a known one or looks like a number."""
    name, tensor = _pick(random, donor)
    new = random.choice((f"{name}.x", f"{name}x", name.rpartition(".")[0] + ".x", "10", "2", "__proto__"))
    parts.tensors.setdefault(new, tensor.copy())


def inflate(random: Random, parts: Parts, donor: Parts) -> None:
    """Many columns, long rows, many slices: what takes few bytes or none may be much in memory."""
    dim = random.choice((65536, 65535, 32768, 4096))
    try:
        parts.set_model(dim=dim)
    except (ValueError, TypeError, KeyError):
        return
    for name in [name for name in parts.tensors if name.endswith(".code")]:
        _as_few_bits(random, parts, name.removesuffix(".code"))
    for name, tensor in parts.tensors.items():
        if name.endswith((".size.value", ".count.value")):
            size = min(SIZES.get(tensor.dtype, 1), 4)
            tensor.data = min(random.choice((0, 255, 4096, dim)), (1 << 8 * size) - 1).to_bytes(
                size, "little"
            )
            tensor.shape = [1]
        elif name.endswith(".slices"):
            tensor.data = struct.pack("<2H", min(dim, 32768), random.choice((2, 256)))
        elif name.endswith((".size.level", ".count.level", ".scale.level")) and random.random() < 0.5:
            tensor.data, tensor.shape = b"", [0]


def _as_few_bits(random: Random, parts: Parts, table: str) -> None:
    """Rows of int8 or int4 made into rows of few-bit codes, which need not fit."""
    for part in ("code", "scale", "mask", "index", "count"):
        parts.tensors.pop(f"{table}.{part}", None)
    parts.tensors[f"{table}.code.value"] = Tensor("I8", [2], b"\1\2")
    parts.tensors[f"{table}.code.level"] = Tensor("U8", [4], bytes(4))
    kind = random.choice(("size", "count", "none"))
    parts.tensors |= {
        f"{table}.{kind}.value": Tensor("U32", [1], bytes(4)),
        f"{table}.{kind}.level": Tensor("U8", [0], b""),
    }


def transplant(random: Random, parts: Parts, donor: Parts) -> None:
    """Put in a tensor of another file."""
    name, tensor = _pick(random, donor)
    parts.tensors[name] = tensor.copy()


def transplant_table(random: Random, parts: Parts, donor: Parts) -> None:
    """Put in everything of another file that shares a prefix: a whole table, graph or set of ids."""
    prefix = _pick(random, donor)[0].rpartition(".")[0]
    for name in [name for name in parts.tensors if name.startswith(prefix)]:
        del parts.tensors[name]
    parts.tensors |= {
        name: tensor.copy() for name, tensor in donor.tensors.items() if name.startswith(prefix)
    }


def retype(random: Random, parts: Parts, donor: Parts) -> None:
    """Another dtype of the same size, or of another with the shape following."""
    _, tensor = _pick(random, parts)
    tensor.dtype = random.choice(list(SIZES))
    size = SIZES[tensor.dtype]
    tensor.data = tensor.data[: len(tensor.data) // size * size]
    tensor.shape = [len(tensor.data) // size]


def change_model(random: Random, parts: Parts, donor: Parts) -> None:
    """Set, nudge or remove a field of the model description."""
    try:
        model = parts.model
    except (ValueError, TypeError, KeyError):
        return
    if not isinstance(model, dict):  # another mutation was here before
        return
    field = random.choice([*model, "user_ids", "user_id", "fold_in"])
    value = model.get(field)
    if isinstance(value, int) and random.random() < 0.5:
        model[field] = value + random.choice((-1, 1, 8))
    elif random.random() < 0.15:
        model.pop(field, None)
    else:
        model[field] = random.choice(ODD_VALUES)
    parts.metadata["model"] = json.dumps(model)


def change_metadata(random: Random, parts: Parts, donor: Parts) -> None:
    """Set or remove a metadata entry."""
    key = random.choice([*parts.metadata, "novel"])
    if random.random() < 0.2:
        parts.metadata.pop(key, None)
    else:
        parts.metadata[key] = random.choice([*ODD_VALUES, *(str(value) for value in ODD_VALUES)])


def change_golden(random: Random, parts: Parts, donor: Parts) -> None:
    """Change something inside the golden queries."""
    try:
        queries = json.loads(parts.metadata["golden"])
        query = random.choice(queries)
        key = random.choice([*query, "user", "weights"])
        values = query.get(key)
        if isinstance(values, list) and values and random.random() < 0.7:
            values[random.randrange(len(values))] = random.choice(ODD_VALUES)
        else:
            query[key] = random.choice(ODD_VALUES)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return
    parts.metadata["golden"] = json.dumps(queries)


def grow_graph(random: Random, parts: Parts, donor: Parts) -> None:
    """Other class widths: the same bits then mean other gaps."""
    tensor = parts.tensors.get("graph.width")
    if tensor is not None:
        tensor.data = bytes(random.choice((0, 1, 2, 5, 24, 25, 255)) for _ in range(len(tensor.data)))


def _entry(random: Random, header: dict[str, Any]) -> dict[str, Any]:
    entries = [value for name, value in header.items() if name != "__metadata__" and isinstance(value, dict)]
    return random.choice(entries or [{}])


def change_offsets(random: Random, header: dict[str, Any]) -> None:
    """Move the range of a tensor."""
    offsets = _entry(random, header).get("data_offsets")
    if isinstance(offsets, list) and offsets:
        at = random.randrange(len(offsets))
        offsets[at] = random.choice([offsets[at] + random.choice((-8, -1, 1, 2, 4, 8)), *ODD_VALUES])


def change_shape(random: Random, header: dict[str, Any]) -> None:
    """Change a shape without its bytes."""
    entry = _entry(random, header)
    entry["shape"] = random.choice(
        [[], [0], [1] * 9, [2**31, 2**31, 2**31], [-1], [1, *entry.get("shape", [])], *ODD_VALUES]
    )


def change_dtype(random: Random, header: dict[str, Any]) -> None:
    """Change a dtype without its bytes."""
    _entry(random, header)["dtype"] = random.choice([*SIZES, "F8_E5M2", "BF16", "BOOL", *ODD_VALUES])


def swap_entries(random: Random, header: dict[str, Any]) -> None:
    """Exchange the ranges of two tensors."""
    one, other = _entry(random, header), _entry(random, header)
    one["data_offsets"], other["data_offsets"] = other.get("data_offsets"), one.get("data_offsets")


def same_range(random: Random, header: dict[str, Any]) -> None:
    """Let one tensor lie on another."""
    one, other = _entry(random, header), _entry(random, header)
    one.update({key: other.get(key) for key in ("dtype", "shape", "data_offsets")})


def odd_entry(random: Random, header: dict[str, Any]) -> None:
    """An entry that is no entry."""
    header[random.choice([*header, "novel"])] = random.choice(ODD_VALUES)


def forget_entry(random: Random, header: dict[str, Any]) -> None:
    """Drop an entry and leave its bytes."""
    names = [name for name in header if name != "__metadata__"]
    if names:
        del header[random.choice(names)]


def truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def extend(random: Random, data: bytes) -> bytes:
    return data + bytes(random.choice((1, 4, 8, 64)))


def change_length(random: Random, data: bytes) -> bytes:
    length = int.from_bytes(data[:8], "little") + random.choice((-8, -1, 1, 8, 64, 1 << 20, 1 << 62))
    return (length % (1 << 64)).to_bytes(8, "little") + data[8:]


def _flip_anywhere(random: Random, data: bytes) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def flip_header(random: Random, data: bytes) -> bytes:
    """Change a byte of the header text."""
    end = min(len(data), 8 + int.from_bytes(data[:8], "little"))
    if end <= 8:
        return data
    at = random.randrange(8, end)
    return data[:at] + bytes([random.choice((random.randrange(256), *b'"{}[]:,0'))]) + data[at + 1 :]


PARTS_MUTATIONS: list[Callable[[Random, Parts, Parts], None]] = [
    poke_bytes,
    poke_bytes,
    poke_bytes,
    poke_element,
    poke_float,
    swap_elements,
    swap_elements,
    add_encoding,
    change_version,
    fill,
    resize,
    remove,
    rename,
    begin_alike,
    inflate,
    transplant,
    transplant_table,
    retype,
    change_model,
    change_metadata,
    change_golden,
    grow_graph,
    grow_levels,
    shift_gaps,
    change_slices,
    change_lengths,
    add_term,
]
HEADER_MUTATIONS: list[Callable[[Random, dict[str, Any]], None]] = [
    change_offsets, change_offsets, change_shape, change_dtype, swap_entries, same_range, odd_entry, forget_entry,
]  # fmt: skip
RAW_MUTATIONS: list[Callable[[Random, bytes], bytes]] = [
    truncate,
    extend,
    change_length,
    flip_header,
    flip_header,
]


def outcome(data: bytes) -> str:
    """`ok`, or the name of the error the Python reader gives."""
    try:
        loads(data)
    except DeviceError as error:
        return type(error).__name__
    return "ok"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--newest", action="store_true", help="only of what the latest version added")
    chosen = parser.parse_args()
    for mutant in mutants(chosen.seed, chosen.count, FOLDERS[-1:] if chosen.newest else FOLDERS):
        facts = {"source": mutant.source, "mutations": mutant.mutations, "outcome": outcome(mutant.data)}
        label = json.dumps(facts).encode()
        sys.stdout.buffer.write(struct.pack("<II", len(label), len(mutant.data)) + label + mutant.data)


if __name__ == "__main__":
    main()
