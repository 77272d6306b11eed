"""The interface of a grader for one sample: the request, the result, the failure.

Owns the interface of scores for every caller: a job's rollout, `graders/run`, an eval. Must not
know trajectories, jobs or HTTP routes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from app.gateways.endpoints.calls import FaultKind

ITEM_MISSING: Final = "item_missing"
"""Kind of the fault that a template reads a key which the row does not have."""
ITEM_UNREADABLE: Final = "item_unreadable"
"""Kind of the fault that the row has a value which the grader cannot read."""
BAD_SCORE: Final = "bad_score"
"""Kind of the fault that a grader's score is unusable."""
NO_REWARD: Final = "no_reward"
"""Kind of the fault that an environment ended an episode without any reward."""


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """One sample to score. `sample` and `item` have the hosted shapes that templates refer to."""

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
    """Human-readable reason of a raised flag (an addition to the hosted shape), without bodies,
    headers and addresses.
    """

    @property
    def raised(self) -> tuple[str, ...]:
        """Names of the flags that are true."""
        return tuple(name for name, value in asdict(self).items() if value is True)

    def joined(self, other: "GraderErrors") -> "GraderErrors":
        """Returns the union of two sets of flags; the texts of `self` have priority."""
        first, second = asdict(self), asdict(other)
        return GraderErrors(**{name: first[name] or second[name] for name in first})


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a grader's own model used, and the number of its answers."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """A finite score. `errors` may still flag a sample that scored 0 because it was unreadable."""

    score: float
    errors: GraderErrors = GraderErrors()
    reason: str | None = None
    """Reason of the score in a sentence; `None` for a grader without reasons."""
    sub_scores: dict[str, float] = field(default_factory=dict)
    """Scores of a multi grader's children by name, or an endpoint grader's own metrics."""
    execution_time_s: float = 0.0
    token_usage: dict[str, TokenUsage] = field(default_factory=dict)
    """Judge tokens by model name."""
    sampled_model_name: str | None = None
    children: dict[str, "ScoreResult"] = field(default_factory=dict)
    """Results of a multi grader's children, by name."""

    @property
    def reasons(self) -> dict[str, str]:
        """Reasons of the scores: of the children by name, and of the whole as `""`."""
        found = {"": self.reason, **{name: child.reason for name, child in self.children.items()}}
        return {name: reason for name, reason in found.items() if reason is not None}


JudgeUsage = Mapping[str, TokenUsage]
"""Judge tokens by model name."""


def sum_of_usages(usages: Iterable[JudgeUsage]) -> dict[str, TokenUsage]:
    """Returns the sums of several token usages."""
    total: dict[str, TokenUsage] = {}
    for usage in usages:
        for model, used in usage.items():
            total[model] = total.get(model, TokenUsage()) + used
    return total


class ScoreFault(Exception):
    """A missing score that is not the sample's fault: infrastructure, never a reward of 0.

    `kind` is one of error, timeout, unreachable, bad_reply, refused, item_missing, item_unreadable,
    bad_score, no_reward; `errors` are the flags in the response of a trial run. The message is safe
    for the customer: no bodies, headers, addresses.
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
        """`token_usage` and `sampled_model_name` belong to a judge that answered without a
        score.
        """
        super().__init__(f"{source}: {message}")
        self.kind = kind
        self.message = message
        self.source = source
        self.errors = errors
        self.child: str | None = None
        """Name of the multi grader's child that failed."""
        self.spent: dict[str, JudgeUsage] = {"": token_usage} if token_usage else {}
        """Judge tokens by the multi grader's child, of all that answered; the whole is `""`."""
        self.sampled_model_name = sampled_model_name

    @property
    def token_usage(self) -> dict[str, TokenUsage]:
        """Judge tokens by model name, which were used although there is no score."""
        return sum_of_usages(self.spent.values())

    @property
    def details(self) -> str:
        """The message, with the part of a judge's answer that the flags quote."""
        return f"{self.source}: {self.errors.details or self.message}"


def server_fault(kind: FaultKind, message: str, *, source: str) -> ScoreFault:
    """Returns the fault of a grader whose model's server gave no usable answer."""
    errors = GraderErrors(
        model_grader_server_error=True, model_grader_server_error_details=message, details=message
    )
    kind = FaultKind.BAD_REPLY if kind is FaultKind.TOO_LARGE else kind
    return ScoreFault(kind.value, message, source=source, errors=errors)


class Scorer(Protocol):
    async def score(self, request: GradeRequest) -> ScoreResult:
        """Scores one sample. Raises `ScoreFault`."""
        ...
