"""Builds the scorer of a job from its grader definition.

The kinds of graders live in `app.grading`; here they meet trajectories and the journal.
"""

from app.domain.graders.graders import MultiGrader, SingleGrader
from app.domain.secrets.walk import Kind, places
from app.grading.registry import GradingPorts, build_scorer
from workers.grading.group_scorer import Grader, GroupScorer, PerSampleScorer
from workers.grading.job_grader import JobGrader


def build_group_scorer(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> GroupScorer:
    """`spec` carries its real headers."""
    return PerSampleScorer(build_grader(spec, ports))


def build_grader(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> Grader:
    """`spec` carries its real headers."""
    asks_outside = any(
        place.kind in (Kind.ADDRESS, Kind.JUDGE) for place in places(type(spec), spec)
    )
    return JobGrader(spec.name, build_scorer(spec, ports), asks_outside=asks_outside)
