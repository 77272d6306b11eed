"""Curves of a job, as charts and findings read them."""

from collections.abc import Mapping

from app.domain.ids import Split

Curve = Mapping[int, float]
Curves = Mapping[tuple[str, Split], Curve]
"""Values by step, of each curve's name and split."""
