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

WIDTH = 32


class Lanes:
    """Arithmetic on clocks of so many components, numbered from 0."""

    def __init__(self, count: int) -> None:
        self._top = sum(1 << (WIDTH * k + WIDTH - 1) for k in range(count))
        self._numbers = struct.Struct(f"<{count}I")

    def merge(self, a: int, b: int) -> int:
        """The component-wise maximum."""
        top = self._top
        larger = ((a | top) - b) & top  # the top bit of each lane in which a >= b
        if larger == top:
            return a
        mask = larger - (larger >> (WIDTH - 1))
        both = b ^ ((a ^ b) & mask)
        return b if both == b else both

    def covers(self, a: int, b: int) -> bool:
        """Whether no component of b is larger."""
        return ((a | self._top) - b) & self._top == self._top

    def values(self, clock: int) -> tuple[int, ...]:
        """The components."""
        return self._numbers.unpack(clock.to_bytes(self._numbers.size, "little"))


def unit(lane: int) -> int:
    """One tick of this component."""
    return 1 << (WIDTH * lane)
