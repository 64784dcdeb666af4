"""A message of the reference nodes, and its form on the wire (MessagePack, one a datagram).

`m` counts the datagrams from one life of `src` to one node: the receiver processes them in
that order and takes what arrives out of order for lost (GM82 II, Assumption 7). `key` is the
run's: a datagram of another run is foreign.
"""

from typing import Any

import msgspec

LARGEST = 8192  # bytes; a longer datagram is oversized
UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)  # also bad UTF-8, deep nesting


class Message(msgspec.Struct, array_like=True, gc=False):
    """CALL kind(dst, *args), or the answer to one when `ack`."""

    key: int
    src: int
    inc: int
    m: int
    kind: str
    ack: bool
    call: int
    args: tuple[Any, ...] = ()
    to: int = 0


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Message).decode


def refusal(data: bytes) -> str:
    """Why these bytes are no message: oversized, truncated or garbage."""
    if len(data) > LARGEST:
        return "oversized"
    try:
        msgspec.msgpack.decode(data)
    except UNREADABLE as error:
        return "truncated" if "truncated" in str(error) else "garbage"
    return "garbage"
