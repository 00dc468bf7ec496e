"""The processes of one training and what they tell each other: the only file that knows torch.distributed.

Each process holds some column blocks of the table and the whole graph (docs/decisions/0004-shards.md). A process that
is alone, which is the usual case, sends nothing: every function here then gives back what it got. Sums of real numbers
are never left to the network, whose order is not ours: parts are gathered, and added up in block order by everybody.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sparserec.errors import SettingError, SparserecError
from sparserec.files import file_hash, replacing

LONGEST_WAIT = timedelta(days=7)
"""For a process that factorises alone, say. One that has died is noticed at once: its connections are closed."""


class ProcessLost(SparserecError):
    """Another process of this training has ended before its time."""


class Processes:
    """One process among those of a training."""

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank, self.count, self.alone = rank, count, count == 1
        self.first = rank == 0
        """Whether this is the process that writes records and shows progress."""
        self.sent = 0
        """Bytes that this process has sent so far, without what the network adds."""

    def share(self, total: int, rank: int | None = None) -> range:
        """Which of `total` parts a process holds (None: this one); shares are stretches, in the order of processes."""
        rank = self.rank if rank is None else rank
        return range(rank * total // self.count, (rank + 1) * total // self.count)

    def gather(self, part: np.ndarray, parts: int) -> np.ndarray:
        """All of `parts` things, in their order, from the share of them (first axis) that every process has."""
        if self.alone:
            return part
        import torch
        import torch.distributed as dist

        lengths = [len(self.share(parts, rank)) for rank in range(self.count)]
        padded = torch.zeros((max(lengths), *part.shape[1:]), dtype=torch.from_numpy(part).dtype)
        padded[: len(part)] = torch.from_numpy(part)
        found = [torch.empty_like(padded) for _ in lengths]
        self._send(lambda: dist.all_gather(found, padded), padded.nbytes)
        return torch.cat([one[:length] for one, length in zip(found, lengths)]).numpy()

    def total(self, numbers: np.ndarray | int) -> np.ndarray:
        """Sum of whole numbers over all processes, int64."""
        whole = np.asarray(numbers, np.int64)
        return whole if self.alone else self._reduce(whole, "SUM")

    def largest(self, numbers: np.ndarray) -> np.ndarray:
        """The largest of every number over all processes."""
        return numbers if self.alone else self._reduce(numbers, "MAX")

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        return flag if self.alone else bool(self.largest(np.array([flag], np.uint8))[0])

    def wait(self) -> None:
        """Until all processes are here."""
        if not self.alone:
            self.total(0)

    def decide(self, make: Callable[[], Any]) -> Any:
        """What `make` gives in the first process alone, as JSON has it. A user's mistake found there is everybody's."""
        if self.alone:
            return make()
        found: dict[str, Any] = {}
        if self.first:
            try:
                found = {"value": make()}
            except SparserecError as error:
                self._tell(json.dumps({"error": str(error)}).encode())
                raise
        told = json.loads(self._tell(json.dumps(found).encode()))
        if "error" in told:
            raise SparserecError(told["error"])
        return told["value"]

    def share_file(self, path: Path) -> None:
        """Give the first process's file to those who have none, or another one, under the same name."""
        if self.alone:
            return
        wanted = self.decide(lambda: file_hash(path))
        missing = not path.exists() or file_hash(path) != wanted
        if self.any(missing):
            contents = self._tell(path.read_bytes() if self.first else b"")
            if missing:
                with replacing(path) as temporary:
                    temporary.write_bytes(contents)

    def _tell(self, message: bytes) -> bytes:
        """The first process's message."""
        import torch
        import torch.distributed as dist

        length = int(self.largest(np.array([len(message) if self.first else 0]))[0])
        buffer = torch.zeros(length, dtype=torch.uint8)
        if self.first:
            buffer[:] = torch.frombuffer(bytearray(message), dtype=torch.uint8)
        self._send(lambda: dist.broadcast(buffer, 0), length)
        return buffer.numpy().tobytes()

    def _reduce(self, numbers: np.ndarray, how: str) -> np.ndarray:
        import torch
        import torch.distributed as dist

        buffer = torch.from_numpy(np.array(numbers))
        self._send(lambda: dist.all_reduce(buffer, getattr(dist.ReduceOp, how)), buffer.nbytes)
        return buffer.numpy()

    def _send(self, exchange: Callable[[], Any], size: int) -> None:
        self.sent += (self.count - 1) * size
        try:
            exchange()
        except RuntimeError as error:  # what gloo says names a socket, not a reason
            raise ProcessLost(
                "another process of this training has ended, so this one has too. The last checkpoint is intact: "
                "start all processes again with `resume`"
            ) from error


ALONE = Processes()


def local_threads() -> int | None:
    """Threads for a process that shares its machine with others of the same training; None: all there are."""
    here = _number("LOCAL_WORLD_SIZE")
    return max(1, (os.cpu_count() or 1) // here) if here > 1 else None


def _number(name: str) -> int:
    """How many processes an environment variable of torchrun says there are; 1 where it is not set."""
    text = os.environ.get(name, "1")
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise SettingError(f"{name} is {text!r}, not a number of processes; unset it, or start with torchrun")
    return int(text)


@contextmanager
def started_processes() -> Iterator[Processes]:
    """The processes that torchrun has started, this one among them; without torchrun this one is alone.

    When they end with an error, the first that knows of it says so and the others keep quiet.
    """
    count = _number("WORLD_SIZE")
    if count == 1:
        yield ALONE
        return
    import torch.distributed as dist

    try:
        store, rank, count = next(dist.rendezvous("env://"))
    except ValueError as error:  # torch names the variable that is missing, not why it should be there
        raise SettingError(
            f"WORLD_SIZE is {count}, so this should be one of several processes, but torchrun has not started it "
            f"({error}); start them with torchrun, or unset WORLD_SIZE"
        ) from None
    dist.init_process_group("gloo", store=store, rank=rank, world_size=count, timeout=LONGEST_WAIT)
    try:
        yield Processes(rank, count)
    except (SparserecError, OSError):
        if _said_before(store):
            sys.exit(2)
        raise
    finally:
        dist.destroy_process_group()


def _said_before(store: Any) -> bool:
    try:
        return store.add("sparserec/said", 1) > 1
    except RuntimeError:  # nobody is left to ask
        return False
