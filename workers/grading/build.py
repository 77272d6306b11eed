"""Builds the scorer of a job from its grader definition.

The kinds of graders are in `app.grading`; this package applies them to trajectories and journals
their scores.
"""

from typing import Final

from app.domain.documents.walk import FieldKind, walk_fields
from app.domain.graders.graders import AnyGrader
from app.domain.graders.kinds.ai_judge import AiJudgeGrader
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.single import RolloutGrader
from app.grading.build import GradingPorts, build_group_multi, build_scorer
from app.grading.kinds.ai_judge import GroupAiJudge
from workers.grading.group_grader import GroupGrader
from workers.grading.group_scorer import GroupScorer, PerSampleScorer, SampleGrader
from workers.grading.job_grader import JobGrader

_CALL_FIELDS: Final = (FieldKind.ADDRESS, FieldKind.JUDGE, FieldKind.EMBEDDING)
"""Fields of a grader that calls an external service."""


def build_group_scorer(spec: AnyGrader, ports: GradingPorts) -> GroupScorer:
    """Builds the group scorer of `spec`, which must contain its real headers."""
    match spec:
        case AiJudgeGrader():
            return GroupGrader(spec.name, GroupAiJudge(spec, ports.judges, source=spec.name))
        case MultiGrader():
            judge = build_group_multi(spec, ports)
            if judge is not None:
                return GroupGrader(spec.name, judge)
            return PerSampleScorer(build_grader(spec, ports))
        case _:
            return _per_sample(spec, ports)


def _per_sample(spec: RolloutGrader, ports: GradingPorts) -> GroupScorer:
    return PerSampleScorer(build_grader(spec, ports))


def build_grader(spec: AnyGrader, ports: GradingPorts) -> SampleGrader:
    """Builds the per-sample grader of `spec`, which must contain its real headers."""
    is_external = any(field.kind in _CALL_FIELDS for field in walk_fields(type(spec), spec))
    journalled = is_external or not spec.repeats_its_scores
    return JobGrader(spec.name, build_scorer(spec, ports), journalled=journalled)
