"""Builds the scorer of a job from its grader definition.

The kinds of graders are in `app.grading`; this package applies them to trajectories and journals
their scores.
"""

from typing import Final

from app.domain.documents.walk import Kind, walk_fields
from app.domain.graders.graders import AnyGrader
from app.grading.build import GradingPorts, build_group_judge, build_scorer
from workers.grading.group_grader import GroupGrader
from workers.grading.group_scorer import GroupScorer, PerSampleScorer, SampleGrader
from workers.grading.job_grader import JobGrader

_ASKED: Final = (Kind.ADDRESS, Kind.JUDGE, Kind.EMBEDDING)
"""Fields by which a grader calls somebody."""


def build_group_scorer(spec: AnyGrader, ports: GradingPorts) -> GroupScorer:
    """Builds the group scorer of `spec`, which must contain its real headers."""
    judge = build_group_judge(spec, ports)
    if judge is None:
        return PerSampleScorer(build_grader(spec, ports))
    return GroupGrader(spec.name, judge)


def build_grader(spec: AnyGrader, ports: GradingPorts) -> SampleGrader:
    """Builds the per-sample grader of `spec`, which must contain its real headers."""
    asks_outside = any(field.kind in _ASKED for field in walk_fields(type(spec), spec))
    journalled = asks_outside or not spec.repeats_its_scores
    return JobGrader(spec.name, build_scorer(spec, ports), journalled=journalled)
