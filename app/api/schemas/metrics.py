"""Curves on the wire (an extension: the hosted API serves them only inside events)."""

from typing import Literal

from pydantic import BaseModel

from app.domain.ids import Split
from app.domain.rollouts.metrics import MetricPoint


class Point(BaseModel):
    step: int
    value: float


class Curve(BaseModel):
    id: str
    """`<split>:<name>`"""
    object: Literal["fine_tuning.job.metric"] = "fine_tuning.job.metric"
    name: str
    split: Split
    points: list[Point]

    @classmethod
    def of(cls, points: list[MetricPoint]) -> "Curve":
        name, split = points[0].name, points[0].split
        return cls(
            id=f"{split}:{name}",
            name=name,
            split=split,
            points=[Point(step=point.step, value=point.value) for point in points],
        )
