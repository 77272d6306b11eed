"""The type of a job's curves for charts and findings."""

from collections.abc import Mapping

from app.domain.ids import Split

Curve = Mapping[int, float]
Curves = Mapping[tuple[str, Split], Curve]
"""Values by step, for each pair of curve name and split."""
