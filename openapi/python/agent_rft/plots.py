"""Plots of a job's curves, when matplotlib is installed."""

from collections.abc import Mapping
from typing import Any

_MISSING = "plot() needs matplotlib: pip install 'agent-rft-sdk[plots]'; curves() has the points"

Curves = Mapping[str, list[tuple[int, float]]]


def drawn(title: str, curves: Curves) -> Any:
    """Returns a matplotlib `Figure` with one line for each curve, over the steps.

    Raises `ImportError` without matplotlib, and `ValueError` when there is no point to draw.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise ImportError(_MISSING) from None
    if not any(curves.values()):
        raise ValueError("the job has no points of these curves yet")
    drawing = Figure(layout="constrained")
    axes = drawing.subplots()
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), label=name, marker="." if len(points) == 1 else "")
    axes.set(title=title, xlabel="step")
    axes.legend()
    return drawing
