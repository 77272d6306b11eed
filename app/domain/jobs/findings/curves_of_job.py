"""The curves of a job as its page gets them, packed until another thread reads them. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.jobs.curves.curves import Curve, Curves
from app.domain.jobs.curves.outlines import OutlinedCurves
from app.domain.jobs.findings.rule_findings import NO_GAPS, CurveGaps
from app.domain.rollouts.metrics import MetricPoint, PackedCurve


@dataclass(frozen=True, slots=True)
class CurvesOfJob:
    """The curves for charts of a job, and what findings read instead of the outlines, packed."""

    outlined: OutlinedCurves
    edges: Sequence[PackedCurve]
    whole: Sequence[PackedCurve]
    between: Sequence[PackedCurve]
    count: int
    """First points, and last ones, of each edge."""

    def read(self, outlines: Curves) -> tuple[Curves, CurveGaps]:
        """Returns the curves of findings, given the outlines, of which those of short curves are
        whole.
        """
        whole = {**outlines, **_read(self.whole)}
        if not self.edges:
            return whole, NO_GAPS
        edges = _read(self.edges)
        ends = {name: sorted(curve)[self.count] for (name, _), curve in edges.items()}
        between: dict[str, Curve] = {one.name: one.read() for one in self.between}
        return {**whole, **edges}, CurveGaps(ends, between)

    def ends(self, names: Collection[str]) -> list[MetricPoint]:
        """Returns the first and the last point of each of these curves."""
        return [point for one in self.outlined.summaries if one.name in names for point in one.ends]


def _read(packed: Sequence[PackedCurve]) -> Curves:
    return {(one.name, one.split): one.read() for one in packed}
