"""Draws the rows of a baseline: the spread of each row over its mean. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.dashboard.rendering.scatters import Scatter, Spot
from app.domain.rollouts.baselines import BaselineRow
from app.domain.rollouts.rollouts import PASS_KINDS


def spread_parts(
    rows: Sequence[BaselineRow], links: Mapping[int, str], *, listed: int
) -> dict[str, Any]:
    """Returns the parts of a page about a baseline, of which `listed` rows are in its table."""
    return {
        "kinds": PASS_KINDS,
        "chart": _spread_chart(rows, links),
        "rows": rows[:listed],
        "links": links,
        "more_rows": max(0, len(rows) - listed),
    }


def _spread_chart(rows: Sequence[BaselineRow], links: Mapping[int, str]) -> Scatter | None:
    """Returns the chart, whose dots lead to the addresses of their rows; `None` without a row."""
    if not rows:
        return None
    spots = [Spot.of_row(one.row, one.mean, one.deviation, href=links[one.row]) for one in rows]
    means, spreads = [spot.x for spot in spots], [spot.y for spot in spots]
    return Scatter(
        "spread",
        "Spread of each row",
        "mean reward",
        "standard deviation of the rewards",
        f"{len(rows)} rows, means from {min(means):.4g} to {max(means):.4g}, "
        f"standard deviations from {min(spreads):.4g} to {max(spreads):.4g}.",
        spots,
    )
