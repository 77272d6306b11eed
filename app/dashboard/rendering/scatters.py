"""Places the dots of a scatter chart, which the page draws as SVG without a script. Pure.

Each dot is a link to what it shows. The chart's table has the same values and the same links.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

_LEFT: Final = 44.0
_RIGHT: Final = 350.0
_TOP: Final = 10.0
_BOTTOM: Final = 216.0
_MARGIN: Final = 0.06
"""Space beside the outermost dots, as a share of the axis."""
_SMALLEST: Final = 3.5
_LARGEST: Final = 12.0
_DECIMALS: Final = 6
_MOST_ROWS: Final = 8
"""Rows that the title of a dot names at most."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One value of a scatter chart."""

    x: float
    y: float
    label: str
    href: str

    @classmethod
    def of_row(cls, row: int, x: float, y: float, *, href: str) -> "Spot":
        """Returns the spot of a row; values that differ by rounding alone are at one place."""
        return cls(round(x, _DECIMALS), round(y, _DECIMALS), f"Row {row}", href)


@dataclass(frozen=True, slots=True)
class Dot:
    """All spots at one place, as a circle of the drawing."""

    x: float
    y: float
    radius: float
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A value on an axis; its line crosses the drawing."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Scatter:
    id: str
    title: str
    x_label: str
    y_label: str
    summary: str
    """The chart in a sentence, for readers who cannot see it."""
    spots: Sequence[Spot]

    @property
    def dots(self) -> list[Dot]:
        """The circles, the largest first, so that none covers another one wholly."""
        together: dict[tuple[float, float], list[Spot]] = {}
        for spot in self.spots:
            together.setdefault((spot.x, spot.y), []).append(spot)
        across, up = self._axis_x, self._axis_y
        dots = [
            Dot(
                across.position(x),
                up.position(y),
                round(min(_LARGEST, _SMALLEST * sqrt(len(spots))), 1),
                _names(spots),
                spots[0].href,
            )
            for (x, y), spots in together.items()
        ]
        return sorted(dots, key=lambda dot: -dot.radius)

    @property
    def marks_x(self) -> list[Mark]:
        return self._axis_x.marks

    @property
    def marks_y(self) -> list[Mark]:
        return self._axis_y.marks

    @property
    def _axis_x(self) -> "_Axis":
        return _Axis.around([spot.x for spot in self.spots], _LEFT, _RIGHT)

    @property
    def _axis_y(self) -> "_Axis":
        return _Axis.around([spot.y for spot in self.spots], _BOTTOM, _TOP)


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis from its lowest to its highest value, with 0 on it."""

    low: float
    high: float
    begin: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], begin: float, end: float) -> "_Axis":
        low, high = min(0.0, *values), max(0.0, *values)
        return cls(low, high if high > low else low + 1.0, begin, end)

    def position(self, value: float) -> float:
        scale = max(-self.low, self.high)  # the length of an axis of huge values is no float
        low, high = self.low / scale, self.high / scale
        span = (high - low) * (1 + 2 * _MARGIN)
        share = (value / scale - low) / span + _MARGIN / (1 + 2 * _MARGIN)
        return round(self.begin + share * (self.end - self.begin), 1)

    @property
    def marks(self) -> list[Mark]:
        """The two ends, and 0."""
        return [Mark(self.position(value), value) for value in sorted({self.low, 0.0, self.high})]


def _names(spots: Sequence[Spot]) -> str:
    named = ", ".join(spot.label for spot in spots[:_MOST_ROWS])
    left_out = len(spots) - _MOST_ROWS
    return named if left_out <= 0 else f"{named} and {left_out} more"
