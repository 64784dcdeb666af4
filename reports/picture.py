"""The terminal report as a picture: SVG text, for a README.

rich's SVG names fonts on the network and leaves blanks at the start of a text to the viewer;
the picture must look the same offline and in every viewer, so the one is taken out and the
other turned into places.
"""

import io
import re

from rich.console import Console

from reports.terminal import render
from traces.run import RunDir
from traces.verdicts import Verdict

WIDTH = 100
CELL = 12.2  # the width rich gives a character
TEXT = re.compile(
    r'x="([\d.]+)"([^>]*?)textLength="([\d.]+)"([^>]*)>((?:&#160;)+)(?=[^<&])'
)  # fmt: skip


def picture(run: RunDir, verdicts: list[Verdict]) -> str:
    """The report as SVG, with its colours."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    render(run, verdicts, console)
    svg = console.export_svg(title="hustings report", unique_id="report")
    svg = re.sub(r"\s*@font-face \{.*?\}\n", "\n", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg)
    svg = svg.replace("Fira Code, monospace", "monospace").replace("arial", "sans-serif")
    lines = TEXT.sub(_placed, svg).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _placed(match: re.Match[str]) -> str:
    x, between, length, rest, blanks = match.groups()
    shift = CELL * blanks.count("&#160;")
    at, long = float(x) + shift, float(length) - shift
    return f'x="{at:.1f}"{between}textLength="{long:.1f}"{rest}>'
