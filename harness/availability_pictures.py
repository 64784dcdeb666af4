"""Uptimes as curves, one for each strategy, like Graphs 1 to 3 of BGS86: SVG, and PNG too.

PNG needs matplotlib (`hustings[png]`); without it there is only SVG.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module, util
from pathlib import Path


def drawn(
    path: Path, title: str, x: str, uptimes: Mapping[str, Sequence[float]], names: Sequence[str]
) -> list[Path]:
    """The files: uptimes in %, by strategy, at places of these names. The path has no suffix."""
    curves = import_module("reports.curves")
    lines = [
        curves.Line(name, [*enumerate(ups)], dash=_dash(name)) for name, ups in uptimes.items()
    ]
    made = [path.with_suffix(".svg")]
    made[0].write_text(curves.chart(title, x, lines, names))
    if util.find_spec("matplotlib"):
        made.append(path.with_suffix(".png"))
        made[1].write_bytes(import_module("reports.curves_png").png(title, x, lines, names))
    return made


def _dash(name: str) -> str:
    """Catching up, decreasing and overthrowing look different without colour too."""
    if name.startswith("overthrow"):
        return "2 3"
    return "7 3" if name.endswith("decrease") else ""
