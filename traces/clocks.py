"""Vector clocks, each packed into one integer: a lane of 32 bits a component.

Whatever Python does to a tuple of fifty numbers costs fifty steps; a lane-wise maximum of two
packed clocks is a handful of operations on long integers, for five nodes as for fifty. Rules:

- The top bit of a lane is kept free. With it set, a subtraction never borrows from the next
  lane, and what is left of it says which of the two was larger.
- `merge(a, b)` gives back `a` itself, not an equal one, where `b` adds nothing to it, and `b` where
  `a` does not: so "nothing new" is asked with `is`.

Limits: a component counts to 2^31 - 1.
"""

import struct
from collections.abc import Iterator

WIDTH = 32
_LANE = (1 << WIDTH) - 1


class Lanes:
    """Arithmetic on clocks of so many components, numbered from 0."""

    def __init__(self, count: int) -> None:
        self._top = sum(1 << (WIDTH * k + WIDTH - 1) for k in range(count))
        self._numbers = struct.Struct(f"<{count}I")

    def merge(self, a: int, b: int) -> int:
        """The component-wise maximum."""
        top = self._top
        smaller = ((b | top) - a) & top  # the top bit of each lane in which a <= b
        if smaller == top:  # mostly: who tells has heard more
            return a if a == b else b
        mask = smaller - (smaller >> (WIDTH - 1))
        both = a ^ ((a ^ b) & mask)
        return a if both == a else both

    def covers(self, a: int, b: int) -> bool:
        """Whether no component of b is larger."""
        return ((a | self._top) - b) & self._top == self._top

    def unlike(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Each component of a that is not that of b: its number and its value."""
        apart = a ^ b
        while apart:
            lane = ((apart & -apart).bit_length() - 1) // WIDTH
            yield lane, a >> WIDTH * lane & _LANE
            apart = apart >> WIDTH * (lane + 1) << WIDTH * (lane + 1)

    def values(self, clock: int) -> tuple[int, ...]:
        """The components."""
        return self._numbers.unpack(clock.to_bytes(self._numbers.size, "little"))


def unit(lane: int) -> int:
    """One tick of this component."""
    return 1 << (WIDTH * lane)
