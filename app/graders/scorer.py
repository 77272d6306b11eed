"""Scores and their faults, and the scorer of a definition; long computations take turns."""

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, astuple, dataclass, field
from operator import add
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from app.graders.embeddings import Embeddings, NoEmbeddings
from app.graders.samples import flat_call, object_or_list, one_turn_keys
from app.kit.endpoints import FaultKind
from app.kit.slots import SharedSlots

if TYPE_CHECKING:  # definitions read this module
    from app.graders.definitions import AnyGrader
    from app.graders.judge import Judges
    from app.kit.endpoint_pool import EndpointPool
    from app.kit.endpoints import CallSigner
    from app.tools.sandbox import Sandbox


def text_sample(text: str, more: dict[str, Any] | None = None) -> dict[str, Any]:
    more = dict(more or {})
    message = {"role": "assistant", "content": text, "tool_calls": more.get("output_tools") or []}
    if more.get("tool_calls") is not None:
        more["tool_calls"] = [_with_json(flat_call(call)) for call in more["tool_calls"]]
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "output_text": text,
        "output_json": object_or_list(text),
        "output_tools": [],
        "output_reasoning_summary": None,
        **one_turn_keys(message, "stop"),
        **more,
    }


def _with_json(call: Any) -> Any:
    arguments = call.get("arguments") if isinstance(call, dict) else None
    if not isinstance(arguments, str) or "arguments_json" in call:
        return call
    return {**call, "arguments_json": object_or_list(arguments)}


LARGEST_SCORE: Final = 1e9
"""Absolute limit of a score: the fp32 gradient of a larger one is not finite."""
Value = TypeVar("Value")
_AT_ONCE: Final = 2
LONG_TEXT: Final = 16_384
"""Characters of texts from which their parsing, or a score of them, is a long computation."""


class ComputingShares:
    """The threads of one process, shared fairly by organizations and projects."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self.slots = SharedSlots(at_once)

    @contextmanager
    def of(self, organization_id: str, project_id: str) -> Iterator[None]:
        token = _share.set((self, organization_id, project_id))
        try:
            yield
        finally:
            _share.reset(token)

    async def run(
        self, organization_id: str, project_id: str, function: Callable[[], Value]
    ) -> Value:
        return await self.slots.run_on_thread(organization_id, project_id, function)


_share: ContextVar[tuple[ComputingShares, str, str] | None] = ContextVar("share", default=None)


async def run_on_scoring_thread(function: Callable[[], Value]) -> Value:
    """Runs a long computation on a thread once its organization and project have a free slot."""
    share = _share.get()
    if share is None:
        return await asyncio.to_thread(function)
    shares, organization_id, project_id = share
    return await shares.run(organization_id, project_id, function)


ITEM_MISSING: Final = "item_missing"
ITEM_UNREADABLE: Final = "item_unreadable"
BAD_SCORE: Final = "bad_score"
NO_REWARD: Final = "no_reward"


@dataclass(frozen=True, slots=True)
class GradeRequest:
    sample: dict[str, Any]
    item: dict[str, Any]
    trace_id: str
    call_id: str
    """Stable over retries and replays, so that the receiver can drop duplicates."""


@dataclass(frozen=True, slots=True)
class GraderErrors:
    """Flags of the hosted `RunGraderResponse.metadata.errors`; all false for a valid score."""

    formula_parse_error: bool = False
    sample_parse_error: bool = False
    truncated_observation_error: bool = False
    unresponsive_reward_error: bool = False
    invalid_variable_error: bool = False
    other_error: bool = False
    python_grader_server_error: bool = False
    python_grader_server_error_type: str | None = None
    python_grader_runtime_error: bool = False
    python_grader_runtime_error_details: str | None = None
    model_grader_server_error: bool = False
    model_grader_refusal_error: bool = False
    model_grader_parse_error: bool = False
    model_grader_server_error_details: str | None = None
    details: str | None = None
    """The reason of a raised flag (an addition), without bodies, headers and addresses."""

    @property
    def raised(self) -> tuple[str, ...]:
        return tuple(name for name, value in asdict(self).items() if value is True)

    def joined(self, other: "GraderErrors") -> "GraderErrors":
        first, second = asdict(self), asdict(other)
        return GraderErrors(**{name: first[name] or second[name] for name in first})


@dataclass(frozen=True, slots=True)
class TokenUsage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """A finite score. `errors` may still flag a sample that scored 0 because it was unreadable."""

    score: float
    errors: GraderErrors = GraderErrors()
    reason: str | None = None
    sub_scores: dict[str, float] = field(default_factory=dict)
    """Scores of a multi grader's children by name, or an endpoint grader's own metrics."""
    execution_time_s: float = 0.0
    token_usage: dict[str, TokenUsage] = field(default_factory=dict)
    sampled_model_name: str | None = None
    children: dict[str, "ScoreResult"] = field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, str]:
        found = {"": self.reason, **{name: child.reason for name, child in self.children.items()}}
        return {name: reason for name, reason in found.items() if reason is not None}


JudgeUsage = Mapping[str, TokenUsage]


def sum_of_usages(usages: Iterable[JudgeUsage]) -> dict[str, TokenUsage]:
    total: dict[str, TokenUsage] = {}
    for usage in usages:
        for model, used in usage.items():
            total[model] = total.get(model, TokenUsage()) + used
    return total


class ScoreFault(Exception):
    """A missing score that is not the sample's fault: infrastructure, never a reward of 0. The
    message is safe for the customer: credentials that were sent are hidden in it.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        source: str,
        errors: GraderErrors,
        token_usage: JudgeUsage | None = None,
        sampled_model_name: str | None = None,
    ) -> None:
        """`token_usage` and `sampled_model_name` are of a judge that answered without a score."""
        super().__init__(f"{source}: {message}")
        self.kind = kind
        self.message = message
        self.source = source
        self.errors = errors
        self.child: str | None = None
        self.spent: dict[str, JudgeUsage] = {"": token_usage} if token_usage else {}
        """Judge tokens by the multi grader's child, of all that answered; the whole is `""`."""
        self.sampled_model_name = sampled_model_name

    @property
    def token_usage(self) -> dict[str, TokenUsage]:
        return sum_of_usages(self.spent.values())

    @property
    def details(self) -> str:
        return f"{self.source}: {self.errors.details or self.message}"


def server_fault(kind: FaultKind, message: str, *, source: str) -> ScoreFault:
    errors = GraderErrors(
        model_grader_server_error=True, model_grader_server_error_details=message, details=message
    )
    kind = FaultKind.BAD_REPLY if kind is FaultKind.TOO_LARGE else kind
    return ScoreFault(kind.value, message, source=source, errors=errors)


def unusable_grader(message: str, *, source: str) -> ScoreFault:
    errors = GraderErrors(other_error=True, details=message)
    return ScoreFault(BAD_SCORE, message, source=source, errors=errors)


class Scorer(Protocol):
    async def score(self, request: GradeRequest) -> ScoreResult:
        """Scores one sample. Raises `ScoreFault`."""


@dataclass(frozen=True, slots=True)
class GradingPorts:
    endpoints: "EndpointPool"
    signer: "CallSigner"
    judges: "Judges"
    sandbox: "Sandbox"
    embeddings: Embeddings = field(default_factory=NoEmbeddings)


def build_scorer(spec: "AnyGrader", ports: GradingPorts) -> Scorer:
    return BoundedScorer(spec.scorer(ports, source=spec.name), source=spec.name)


BEYOND: Final = "the score "


class BoundedScorer:
    def __init__(self, scorer: Scorer, *, source: str) -> None:
        self._scorer = scorer
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        return within_bound(await self._scorer.score(request), source=self._source)


def within_bound(result: ScoreResult, *, source: str) -> ScoreResult:
    if is_usable(result.score):
        return result
    try:
        shown = f"{result.score:g}"
    except OverflowError:
        shown = "of more than 308 digits"
    message = f"{BEYOND}{shown} is beyond ±{LARGEST_SCORE:g}"
    errors = GraderErrors(other_error=True, details=message)
    fault = ScoreFault(BAD_SCORE, message, source=source, errors=errors)
    used = {name: child.token_usage for name, child in result.children.items()}
    spent = used or {"": result.token_usage}
    fault.spent = {name: usage for name, usage in spent.items() if usage}
    fault.sampled_model_name = result.sampled_model_name
    raise fault


def is_usable(score: float) -> bool:
    return abs(score) <= LARGEST_SCORE


def finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
