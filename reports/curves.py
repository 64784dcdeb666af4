"""A chart as SVG: measured points, the claimed curves beside them, and a legend. Nothing else.

Rules: plain SVG without fonts or anything else from other hosts; every line has a name and a
pattern, so that it reads without colour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 760, 460, 70, 50, 40, 220
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b8860b", "#555555",
           "#e377c2", "#17a2b8", "#222222")  # fmt: skip
DASH = "6 4"
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """One line of the chart; a claim is dashed, what was measured has its points marked.

    `dash` is a pattern as in SVG, for what was measured and has to be told apart all the same.
    """

    name: str
    points: Points
    claim: bool = False
    dash: str = ""

    @property
    def pattern(self) -> str:
        """Long and short of it; empty: drawn through."""
        return self.dash or (DASH if self.claim else "")


def chart(title: str, x: str, lines: Sequence[Line], names: Sequence[str] = ()) -> str:
    """The whole picture; `names` are of the places 0, 1, 2, ... if these are no numbers."""
    most_x = max(px for line in lines for px, _ in line.points)
    most_y = max(py for line in lines for _, py in line.points) or 1
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return LEFT + across * point[0] / most_x, HEIGHT - BOTTOM - down * point[1] / most_y

    parts = [_text(LEFT, TOP - 16, title, weight="bold")]
    below = HEIGHT - BOTTOM + 18
    ticks = list(enumerate(names)) or [(n, f"{n:,}") for n in _ticks(most_x)]
    parts += [_text(at((n, 0))[0], below, words, "middle") for n, words in ticks]
    for n in _ticks(most_y):
        py = at((0, n))[1]
        parts.append(f'<path d="M{LEFT} {py:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, py + 4, f"{n:,}", "end"))
    parts.append(_text(LEFT + across / 2, HEIGHT - 10, x, "middle"))
    for k, line in enumerate(lines):
        parts += _drawn(line, COLOURS[k % len(COLOURS)], [at(p) for p in line.points], k)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" '
        f'fill="white"/>\n{body}\n</svg>\n'
    )


def _ticks(most: float) -> range:
    """Whole numbers from 0, about five of them, at round distances."""
    rough = max(most / 5, 1)
    power = 10 ** int(log10(rough))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= rough)
    return range(0, int(most) + 1, step)


def _drawn(line: Line, colour: str, places: Points, k: int) -> list[str]:
    path = " ".join(f"{'L' if n else 'M'}{px:.1f} {py:.1f}" for n, (px, py) in enumerate(places))
    dash = f' stroke-dasharray="{line.pattern}"' if line.pattern else ""
    parts = [f'<path d="{path}" fill="none" stroke="{colour}"{dash}/>']
    if not line.claim:
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in places]
    at = WIDTH - RIGHT + 14, TOP + 10 + 20 * k
    parts.append(f'<path d="M{at[0]} {at[1] - 4}h24" stroke="{colour}"{dash}/>')
    return [*parts, _text(at[0] + 30, at[1], line.name)]


def _text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )
