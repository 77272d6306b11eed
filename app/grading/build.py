"""Builds the scorer of a grader definition, by its kind.

A new type needs a file in `app.domain.graders.kinds`, its place in the unions of
`app.domain.graders.single`, a case in `app.domain.graders.row_readings`, a file of the same name in
`app.grading.kinds` and a case below. `CONTRIBUTING.md` lists what else shows it.
"""

from dataclasses import dataclass, field
from typing import assert_never

from app.domain.graders.graders import AnyGrader
from app.domain.graders.kinds.ai_judge import AiJudgeGrader
from app.domain.graders.kinds.code_execution import CodeExecutionGrader
from app.domain.graders.kinds.contains import ContainsGrader
from app.domain.graders.kinds.endpoint import EndpointGrader
from app.domain.graders.kinds.environment import EnvironmentGrader
from app.domain.graders.kinds.exact_match import ExactMatchGrader
from app.domain.graders.kinds.format import FormatGrader
from app.domain.graders.kinds.json_valid import JsonValidGrader
from app.domain.graders.kinds.label_model import LabelModelGrader
from app.domain.graders.kinds.length_bounds import LengthBoundsGrader
from app.domain.graders.kinds.llm_judge import LlmJudgeGrader
from app.domain.graders.kinds.multi import MultiGrader
from app.domain.graders.kinds.python import PythonGrader
from app.domain.graders.kinds.regex import RegexGrader
from app.domain.graders.kinds.score_model import ScoreModelGrader
from app.domain.graders.kinds.string_check import StringCheckGrader
from app.domain.graders.kinds.text_similarity import COSINE, TextSimilarityGrader
from app.domain.graders.kinds.tool_call import ToolCallGrader
from app.domain.graders.single import (
    JudgingGrader,
    LocalGrader,
    RolloutGrader,
    SandboxedGrader,
    SingleGrader,
)
from app.gateways.endpoints.pool import EndpointPool
from app.gateways.endpoints.signing import CallSigner
from app.gateways.inference.embeddings import Embeddings, NoEmbeddings
from app.gateways.inference.judges import Judges
from app.gateways.sandbox.sandbox import Sandbox
from app.grading.cosine import CosineScorer
from app.grading.kinds.ai_judge import AiJudgeScorer, GroupAiJudge
from app.grading.kinds.code_execution import CodeExecutionScorer
from app.grading.kinds.contains import ContainsScorer
from app.grading.kinds.endpoint import EndpointScorer
from app.grading.kinds.environment import EnvironmentScorer
from app.grading.kinds.exact_match import ExactMatchScorer
from app.grading.kinds.format import FormatScorer
from app.grading.kinds.group_multi import GroupMulti
from app.grading.kinds.json_valid import JsonValidScorer
from app.grading.kinds.label_model import LabelModelScorer
from app.grading.kinds.length_bounds import LengthBoundsScorer
from app.grading.kinds.llm_judge import LlmJudgeScorer
from app.grading.kinds.multi import MultiScorer
from app.grading.kinds.python import PythonScorer
from app.grading.kinds.regex import RegexScorer
from app.grading.kinds.score_model import ScoreModelScorer
from app.grading.kinds.string_check import StringCheckScorer
from app.grading.kinds.text_similarity import TextSimilarityScorer
from app.grading.kinds.tool_call import ToolCallScorer
from app.grading.local_scorer import LocalScorer
from app.grading.score_bounds import BoundedScorer
from app.grading.scorer import Scorer


@dataclass(frozen=True, slots=True)
class GradingPorts:
    """Clients of graders; all graders of one pool share the limits of its endpoints."""

    endpoints: EndpointPool
    signer: CallSigner
    judges: Judges
    sandbox: Sandbox
    embeddings: Embeddings = field(default_factory=NoEmbeddings)


def build_scorer(spec: AnyGrader, ports: GradingPorts) -> Scorer:
    """Builds the scorer of a definition, which must contain its real headers."""
    return BoundedScorer(_whole(spec, ports), source=spec.name)


def _whole(spec: AnyGrader, ports: GradingPorts) -> Scorer:
    match spec:
        case MultiGrader():
            children = {
                name: _single(child, ports, source=name) for name, child in spec.parts.items()
            }
            return MultiScorer(spec, children)
        case _:
            return _single(spec, ports, source=spec.name)


def build_group_multi(spec: MultiGrader, ports: GradingPorts) -> GroupMulti | None:
    """Builds the group judge of a `multi` grader, `None` for one without group judges among its
    children.
    """
    judges, others = dict[str, GroupAiJudge](), dict[str, Scorer]()
    for name, child in spec.parts.items():
        match child:
            case AiJudgeGrader():
                judges[name] = GroupAiJudge(child, ports.judges, source=name)
            case _:
                others[name] = _of_rollout(child, ports, source=name)
    return GroupMulti(spec, others, judges) if judges else None


def _single(spec: SingleGrader, ports: GradingPorts, *, source: str) -> Scorer:
    match spec:
        case AiJudgeGrader():
            return AiJudgeScorer(spec, ports.judges, source=source)
        case _:
            return _of_rollout(spec, ports, source=source)


def _of_rollout(spec: RolloutGrader, ports: GradingPorts, *, source: str) -> Scorer:
    """Builds the scorer of a grader that scores rollouts separately."""
    match spec:
        case ScoreModelGrader() | LabelModelGrader() | LlmJudgeGrader():
            return _judging(spec, ports.judges, source=source)
        case PythonGrader() | CodeExecutionGrader():
            return _sandboxed(spec, ports.sandbox, source=source)
        case EndpointGrader():
            return EndpointScorer(spec, ports.endpoints, ports.signer, source=source)
        case EnvironmentGrader():
            return EnvironmentScorer(source=source)
        case _:
            return _local(spec, ports.embeddings, source=source)


def _judging(spec: JudgingGrader, judges: Judges, *, source: str) -> Scorer:
    match spec:
        case ScoreModelGrader():
            return ScoreModelScorer(spec, judges, source=source)
        case LabelModelGrader():
            return LabelModelScorer(spec, judges, source=source)
        case LlmJudgeGrader():
            return LlmJudgeScorer(spec, judges, source=source)
        case _:
            assert_never(spec)


def _sandboxed(spec: SandboxedGrader, sandbox: Sandbox, *, source: str) -> Scorer:
    match spec:
        case PythonGrader():
            return PythonScorer(spec, sandbox, source=source)
        case CodeExecutionGrader():
            return CodeExecutionScorer(spec, sandbox, source=source)
        case _:
            assert_never(spec)


def _local(spec: LocalGrader, embeddings: Embeddings, *, source: str) -> LocalScorer | CosineScorer:
    scorer: LocalScorer | CosineScorer
    match spec:
        case StringCheckGrader():
            scorer = StringCheckScorer(spec, source=source)
        case TextSimilarityGrader():
            scorer = _similarity(spec, embeddings, source=source)
        case ExactMatchGrader():
            scorer = ExactMatchScorer(spec, source=source)
        case ContainsGrader():
            scorer = ContainsScorer(spec, source=source)
        case JsonValidGrader():
            scorer = JsonValidScorer(spec, source=source)
        case RegexGrader():
            scorer = RegexScorer(spec, source=source)
        case FormatGrader():
            scorer = FormatScorer(spec, source=source)
        case LengthBoundsGrader():
            scorer = LengthBoundsScorer(spec, source=source)
        case ToolCallGrader():
            scorer = ToolCallScorer(spec, source=source)
        case _:
            assert_never(spec)
    return scorer


def _similarity(
    spec: TextSimilarityGrader, embeddings: Embeddings, *, source: str
) -> LocalScorer | CosineScorer:
    if spec.evaluation_metric == COSINE:
        return CosineScorer(spec, embeddings, source=source)
    return TextSimilarityScorer(spec, source=source)
