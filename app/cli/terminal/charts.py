"""Draws curves with characters. Each curve has its own mark, because colours are missing in a pipe
and unclear to colour-blind readers.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import plotext

from app.cli.terminal.printable import printable

_MARKS: Final = "•x+o#*@%"
MOST_CURVES: Final = len(_MARKS)


def chart(series: Mapping[str, Sequence[tuple[int, float]]], *, width: int, height: int) -> str:
    """Returns lines of text. `series` has the points of at most `MOST_CURVES` curves by label."""
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plot_size(width, height)
    for mark, (label, points) in zip(_MARKS, series.items(), strict=False):
        steps, values = [step for step, _ in points], [value for _, value in points]
        plotext.plot(steps, values, label=printable(label), marker=mark)
    plotext.xlabel("step")
    return str(plotext.uncolorize(plotext.build()))
