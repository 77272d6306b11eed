"""The places of dots and marks of a scatter chart, computed by hand."""

import math

from app.pages.plots import Scatter, Spot
from tests.support.cases import cases


def scatter(*places: tuple[float, float]) -> Scatter:
    spots = [Spot(x, y, f"Row {row}", f"/{row}") for row, (x, y) in enumerate(places)]
    return Scatter("id", "title", "x", "y", "summary", spots)


@cases("size", [1.0, 1e-300, 1e300, 1.7e308])
def test_positions_do_not_depend_on_the_size_of_the_values(size: float) -> None:
    chart = scatter((-size, size), (size, -size), (0.0, 0.0))
    dots = [(dot.x, dot.y, dot.title) for dot in chart.dots]
    assert dots == [(60.4, 21.0, "Row 0"), (333.6, 205.0, "Row 1"), (197.0, 113.0, "Row 2")]
    assert [mark.at for mark in chart.marks_x] == [60.4, 197.0, 333.6]


def test_equal_values_have_an_axis_and_one_dot() -> None:
    [dot] = (chart := scatter((0.0, 0.0), (0.0, 0.0))).dots
    assert (dot.title, [mark.value for mark in chart.marks_y]) == ("Row 0, Row 1", [0.0, 1.0])
    assert math.isfinite(dot.x)
