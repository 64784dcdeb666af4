"""A token that goes round the active group: who has it supplants the excluded (BGS86 4.1).

There is one, and it is never lost and never two. It is numbered by how often it was handed on, and
where it is stands in safe cells. Rules:

- Who hands it on does not have it any more. It names one node, and tells that one again at every
  Check until it knows that it arrived.
- Who gets a newer number than any it has had has the token. An older one is told again, or was
  duplicated: it is acknowledged once more, and dies out.
- With it goes the active group in which it was seen last. So each exclusion is made good once,
  however the Checks of those it passes fall.

Limits: it may be out of the active group, under way to a node that is cut off, or dead with one.
Then "no node gets extra votes" (BGS86 5.2) until it is back.
"""

from typing import Any, ClassVar, TypedDict

from nodes.protocol import UNDEFINED, Procedure, Protocol, on


class Token(TypedDict):
    """What node i knows of it: the newest number, and whether it is here or under way to whom."""

    number: int
    here: bool
    to: int
    group: list[int]


class Circulating(Protocol):
    """Node i of a ring that a token goes round; the first node has it first."""

    abstract: ClassVar[bool] = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        first: Token = {
            "number": 1, "here": self.i == self.nodes[0], "to": UNDEFINED, "group": [*self.nodes],
        }  # fmt: skip
        self.token: Token = self.system.cells.get("token", first)

    def put(self, number: int, here: bool, to: int, group: list[int]) -> None:
        """Into the safe cell, before anything that follows has an effect."""
        self.token = {"number": number, "here": here, "to": to, "group": group}
        self.system.store("token", self.token)

    def check(self) -> Procedure:
        """While it is under way, tell the one it is for."""
        self.hand_over()
        yield super().check()

    def pass_on(self) -> None:
        """To the next node of the active group."""
        group = self.token["group"]
        ring = [j for j in group if j > self.i] + [j for j in group if j < self.i]
        if ring:
            self.put(self.token["number"] + 1, False, ring[0], group)
            self.hand_over()

    def hand_over(self) -> None:
        """Once more, unless it has arrived."""
        number, to = self.token["number"], self.token["to"]
        if to:
            self.system.send(to, "Token", (number, self.token["group"]))

    @on("Token")
    def token_came(self, j: int, number: int, group: list[int]) -> None:
        """Node j hands it on."""
        if number > self.token["number"]:
            self.put(number, True, UNDEFINED, group)
        self.system.send(j, "TokenTaken", (number,))

    @on("TokenTaken")
    def token_taken(self, j: int, number: int) -> None:
        """It has arrived."""
        if (j, number) == (self.token["to"], self.token["number"]):
            self.put(number, False, UNDEFINED, self.token["group"])
