"""Builds the scorer of a grader definition, by its kind."""

from dataclasses import dataclass, field
from typing import assert_never

from app.graders.definitions import (
    AnyGrader,
    JudgingGrader,
    LocalGrader,
    MultiGrader,
    RolloutGrader,
    SandboxedGrader,
    SingleGrader,
)
from app.graders.embeddings import CosineScorer, Embeddings, NoEmbeddings
from app.graders.endpoint_definitions import (
    CodeExecutionGrader,
    EndpointGrader,
    EnvironmentGrader,
    ToolCallGrader,
)
from app.graders.judge import Judges
from app.graders.kinds.ai_judge import AiJudgeScorer, GroupAiJudge
from app.graders.kinds.code_execution import CodeExecutionScorer
from app.graders.kinds.contains import ContainsScorer
from app.graders.kinds.endpoint import EndpointScorer
from app.graders.kinds.environment import EnvironmentScorer
from app.graders.kinds.exact_match import ExactMatchScorer
from app.graders.kinds.format import FormatScorer
from app.graders.kinds.group_multi import GroupMulti
from app.graders.kinds.json_valid import JsonValidScorer
from app.graders.kinds.label_model import label_model_scorer
from app.graders.kinds.length_bounds import LengthBoundsScorer
from app.graders.kinds.llm_judge import llm_judge_scorer
from app.graders.kinds.multi import MultiScorer
from app.graders.kinds.python import PythonScorer
from app.graders.kinds.regex import RegexScorer
from app.graders.kinds.score_model import score_model_scorer
from app.graders.kinds.string_check import StringCheckScorer
from app.graders.kinds.text_similarity import TextSimilarityScorer
from app.graders.kinds.tool_call import ToolCallScorer
from app.graders.model_definitions import (
    AiJudgeGrader,
    LabelModelGrader,
    LlmJudgeGrader,
    ScoreModelGrader,
)
from app.graders.program_definitions import PythonGrader
from app.graders.scorer import BoundedScorer, Scorer
from app.graders.text_definitions import (
    COSINE,
    ContainsGrader,
    ExactMatchGrader,
    FormatGrader,
    JsonValidGrader,
    LengthBoundsGrader,
    RegexGrader,
    StringCheckGrader,
    TextSimilarityGrader,
)
from app.graders.text_scorer import LocalScorer
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner
from app.tools.sandbox import Sandbox


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
            return score_model_scorer(spec, judges, source=source)
        case LabelModelGrader():
            return label_model_scorer(spec, judges, source=source)
        case LlmJudgeGrader():
            return llm_judge_scorer(spec, judges, source=source)
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
