"""Builds the scorer of a job from its grader definition.

The kinds of graders live in `app.grading`; here they meet trajectories and the journal.
"""

from app.domain.graders.graders import (
    EndpointGrader,
    MultiGrader,
    ScoreModelGrader,
    SingleGrader,
    leaves,
)
from app.grading.registry import GradingPorts, build_scorer
from workers.grading.group_scorer import Grader, GroupScorer, PerSampleScorer
from workers.grading.job_grader import JobGrader


def build_group_scorer(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> GroupScorer:
    """`spec` carries its real headers."""
    return PerSampleScorer(build_grader(spec, ports))


def build_grader(spec: SingleGrader | MultiGrader, ports: GradingPorts) -> Grader:
    """`spec` carries its real headers."""
    asks_outside = any(
        isinstance(leaf, EndpointGrader | ScoreModelGrader) for _, leaf in leaves(spec, "")
    )
    return JobGrader(spec.name, build_scorer(spec, ports), asks_outside=asks_outside)
