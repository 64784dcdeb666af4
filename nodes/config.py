"""The node contract: the one JSON file a node is handed (docs/node-contract.md)."""

from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from nodes.protocol import Protocol
from traces.events import Event
from traces.run import Timing

Address = tuple[str, int]


class Point(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a node's trace: the first event of this type with these fields from now on."""

    event: str
    where: dict[str, Any] = {}

    def matches(self, event: Event) -> bool:
        """Whether this is the event."""
        return type(event).__struct_config__.tag == self.event and all(
            _plain(getattr(event, field, None)) == _plain(value)
            for field, value in self.where.items()
        )


def _plain(value: Any) -> Any:
    """JSON knows no tuples."""
    return list(value) if isinstance(value, tuple) else value


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something a client wants of the node; a number is used once in a run."""

    number: int
    kind: str
    args: dict[str, Any] = {}


class NodeConfig(msgspec.Struct):
    """What a node needs to know, and all it is told."""

    node: int
    incarnation: int
    nodes: tuple[int, ...]
    bind: Address
    peers: dict[int, Address]
    cells: str
    trace: str
    protocol: str
    timing: Timing
    lateness: bool = True
    key: int = 0
    points: tuple[Point, ...] = ()
    asks: tuple[Ask, ...] = ()
    parameters: dict[str, Any] = {}


_decode = msgspec.json.Decoder(NodeConfig).decode  # made once, before any fork


def read(path: str | Path) -> NodeConfig:
    """The config in this file."""
    with open(path, "rb", buffering=0) as file:
        return _decode(file.read())


def write(path: Path, config: NodeConfig) -> None:
    """Replace the file atomically: a node may re-read it at any moment."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(config))
    fresh.replace(path)


def load_protocol(name: str) -> type[Protocol]:
    """The class that `module:Class` names."""
    module, _, attribute = name.partition(":")
    return cast(type[Protocol], getattr(import_module(module), attribute))
