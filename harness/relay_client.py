"""The controller's end of the relay, and what the two say to each other.

One JSON message a packet (SOCK_SEQPACKET). A long list goes in several packets, all but the
last flagged `more`. Each request is answered; the end of the socket is the end of the relay.
"""

import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from harness.rules import Link, Rule
from traces.events import Counted

LIST = 400  # items of a list a packet: under 64 KiB for the longest of them
BIGGEST = 65_536


class Request(msgspec.Struct, omit_defaults=True):
    """Controller to relay. `rule_id`, `rule` and `links` are for install and remove."""

    verb: Literal["ports", "install", "remove", "counts", "close"]
    rule_id: int = 0
    rule: Rule | None = None
    links: Sequence[Link] = ()
    more: bool = False


class Reply(msgspec.Struct, omit_defaults=True):
    """Relay to controller: done at a stamp, with what was asked for, or why not."""

    at: int = 0
    why: str = ""
    ports: Sequence[tuple[int, int, int]] = ()
    counts: Sequence[Counted] = ()
    more: bool = False


encode = msgspec.json.encode
decode_request = msgspec.json.Decoder(Request).decode
decode_reply = msgspec.json.Decoder(Reply).decode


def parts(items: Sequence[Any]) -> Iterator[tuple[Sequence[Any], bool]]:
    """Pieces that fit a packet, each with whether more come."""
    for start in range(0, max(len(items), 1), LIST):
        yield items[start : start + LIST], start + LIST < len(items)


class RelayError(RuntimeError):
    """The relay said no, and why."""


class RelayGone(RelayError):  # noqa: N818 - it says what happened
    """The relay died, or does not answer."""


class RelayClient:
    """The controller's end of the control socket: one blocking exchange at a time.

    An exchange that fails or is interrupted ends the relay, because the answer to it could be
    taken for the answer to the next.
    """

    def __init__(self, control: socket.socket, deadline_s: float = 10.0) -> None:
        self.control, self.deadline_s = control, deadline_s
        control.settimeout(deadline_s)

    def ports(self) -> dict[Link, int]:
        """The port on which each directed link takes what its first node sends."""
        return {(i, j): port for r in self._ask(Request("ports")) for i, j, port in r.ports}

    def install(self, rule_id: int, rule: Rule, links: Iterable[Link]) -> int:
        """Append the rule to the links; the stamp from which on it decides."""
        pieces = parts(sorted(set(links)))
        asked = [Request("install", rule_id, rule, piece, more) for piece, more in pieces]
        return self._ask(*asked)[-1].at

    def remove(self, rule_id: int) -> int:
        """Take a rule off all its links; the stamp from which on it is gone."""
        return self._ask(Request("remove", rule_id))[-1].at

    def counts(self) -> dict[Link, Counted]:
        """What became of the datagrams of each link that had any."""
        return {(c.src, c.dst): c for r in self._ask(Request("counts")) for c in r.counts}

    def close(self) -> None:
        """Have the counts written and the relay leave; a second call does nothing."""
        if self.control.fileno() >= 0:
            self._ask(Request("close"))
            self.control.close()

    def _ask(self, *requests: Request) -> list[Reply]:
        try:
            for request in requests:
                self.control.send(encode(request))
            replies = [self._reply()]
            while replies[-1].more:
                replies.append(self._reply())
        except BaseException as error:
            self.control.close()
            if isinstance(error, TimeoutError):
                raise RelayGone(f"the relay did not answer in {self.deadline_s:g} s") from error
            if isinstance(error, OSError):
                raise RelayGone("the relay is gone") from error
            raise
        if replies[-1].why:
            raise RelayError(replies[-1].why)
        return replies

    def _reply(self) -> Reply:
        packet = self.control.recv(BIGGEST)
        if not packet:
            raise ConnectionResetError("end of the control socket")
        return decode_reply(packet)
