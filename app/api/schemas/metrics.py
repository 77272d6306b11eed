"""Curves on the wire (an extension: the hosted API serves them only inside events)."""

from typing import Literal

from app.domain.documents.described import DescribedModel
from app.domain.ids import Split
from app.domain.rollouts.metrics import MetricPoint


class Point(DescribedModel):
    """One value of a curve."""

    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""


class CurvePoint(DescribedModel):
    """A row of the export of a job's curves."""

    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""

    @classmethod
    def of(cls, point: MetricPoint) -> "CurvePoint":
        return cls(name=point.name, split=point.split, step=point.step, value=point.value)


class Curve(DescribedModel):
    """The points of one curve of a job."""

    id: str
    """`<split>:<name>`"""
    object: Literal["fine_tuning.job.metric"] = "fine_tuning.job.metric"
    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    points: list[Point]
    """Points by step, thinned to `max_points`."""

    @classmethod
    def of(cls, points: list[MetricPoint]) -> "Curve":
        name, split = points[0].name, points[0].split
        return cls(
            id=f"{split}:{name}",
            name=name,
            split=split,
            points=[Point(step=point.step, value=point.value) for point in points],
        )
