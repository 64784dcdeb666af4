"""Numbers that are not known yet: `2*v1 + v3`, as what a policy function makes of them.

Rule: whatever asks what the number is, is refused, but for "is it anything at all?": that is
taken to be so, and a table then has a line that says 0 where it might have had none.
"""

from collections.abc import Mapping


class Sum:
    """A sum of multiples of names, and of 1 (the empty name)."""

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[str, int]) -> None:
        self.parts = {name: times for name, times in parts.items() if times}

    @classmethod
    def named(cls, name: str) -> "Sum":
        """The number of this name."""
        return cls({name: 1})

    def __add__(self, other: "Sum | int") -> "Sum":
        more = other.parts if isinstance(other, Sum) else {"": other}
        names = [*self.parts, *(name for name in more if name not in self.parts)]
        return Sum({name: self.parts.get(name, 0) + more.get(name, 0) for name in names})

    def __mul__(self, times: int) -> "Sum":
        return Sum({name: times * part for name, part in self.parts.items()})

    def __floordiv__(self, by: int) -> "Sum":
        return Sum.named(f"(({self}) // {by})")

    def __neg__(self) -> "Sum":
        return self * -1

    def __sub__(self, other: "Sum | int") -> "Sum":
        return self + -other

    def __rsub__(self, other: int) -> "Sum":
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        raise TypeError("a number that is not known yet is compared")

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        """An expression in Python."""
        words = [
            (name if times == 1 else f"{times}*{name}") if name else str(times)
            for name, times in self.parts.items()
        ]
        return " + ".join(words).replace("+ -", "- ") or "0"
