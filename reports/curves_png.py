"""The same chart as PNG: what `reports.curves` draws as SVG, for places that show no SVG.

Rule: this is the one module that imports matplotlib, an optional extra (`hustings[png]`); it is
loaded only if that is installed. No window and no display is needed.
"""

from collections.abc import Sequence
from io import BytesIO

from matplotlib.figure import Figure

from reports.curves import COLOURS, HEIGHT, WIDTH, Line

INCH = 80  # points of the SVG


def png(title: str, x: str, lines: Sequence[Line], names: Sequence[str] = ()) -> bytes:
    """The whole picture."""
    figure = Figure(figsize=(WIDTH / INCH, HEIGHT / INCH), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=x)
    for k, line in enumerate(lines):
        across, up = zip(*line.points, strict=True)
        dashes = [float(n) for n in line.pattern.split()]
        axes.plot(
            across, up, label=line.name, color=COLOURS[k % len(COLOURS)], linewidth=1,
            linestyle=(0, tuple(dashes)) if dashes else "solid",
            marker="" if line.claim else "o", markersize=3,
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color="#ddd")
    if names:
        axes.set_xticks(range(len(names)), names)
    figure.legend(loc="outside right upper", frameon=False, fontsize="small")
    made = BytesIO()
    figure.savefig(made, format="png", dpi=100)
    return made.getvalue()
