"""Taking model files apart and putting them together again, rightly or wrongly."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sparserec.device.container import DIGEST_END, DIGEST_START, digest


@dataclass
class Tensor:
    """A tensor as it stands in a file."""

    dtype: str
    shape: list[int]
    data: bytes

    def copy(self) -> Tensor:
        return Tensor(self.dtype, self.shape, self.data)


@dataclass
class Parts:
    """Metadata and tensors of a file, free to be changed."""

    metadata: dict[str, Any]
    tensors: dict[str, Tensor] = field(default_factory=dict)

    @property
    def model(self) -> dict[str, Any]:
        return json.loads(self.metadata["model"])

    def copy(self) -> Parts:
        """Parts that may be changed without changing these."""
        tensors = {name: tensor.copy() for name, tensor in self.tensors.items()}
        return Parts(dict(self.metadata), tensors)

    def set_model(self, **fields: Any) -> None:
        self.metadata["model"] = json.dumps(self.model | fields)


def take_apart(data: bytes) -> Parts:
    """Parts of a valid file."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    parts = Parts(header.pop("__metadata__"))
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        parts.tensors[name] = Tensor(
            entry["dtype"], entry["shape"], data[8 + length + begin : 8 + length + end]
        )
    return parts


def lay_out(parts: Parts) -> tuple[dict[str, Any], bytes]:
    """A header with offsets that follow from the tensors' order, and the payload."""
    header: dict[str, Any] = {"__metadata__": {"sha256": "0" * 64} | parts.metadata}
    begin = 0
    for name, tensor in parts.tensors.items():
        end = begin + len(tensor.data)
        header[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [begin, end]}
        begin = end
    return header, b"".join(tensor.data for tensor in parts.tensors.values())


def put_together(header: dict[str, Any], payload: bytes) -> bytes:
    """A file from a header and a payload that need not fit each other; the checksum is right."""
    return reseal(join(header, payload))


def join(header: dict[str, Any], payload: bytes, pad: bool = True) -> bytes:
    """The same with the checksum that the header says."""
    raw = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if pad:
        raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + payload


def reseal(data: bytes) -> bytes:
    """Write the right checksum into a file, whatever else is wrong with it."""
    if len(data) < DIGEST_END:
        return data
    return data[:DIGEST_START] + digest(data).encode("ascii") + data[DIGEST_END:]
