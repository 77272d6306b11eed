"""A rollout in memory: turns, tokens, steps of an environment, its grade or failure. Pure.

Names of components become names of curves, which must fit into an index of the database.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, Literal, Self, assert_never

from app.files.conversations import BROKEN_CALL, broken_call
from app.kit.fields import Json
from app.kit.ids import SampleKey

MAX_COMPONENTS: Final = 32
COMPONENT_NAME: Final = r"[a-zA-Z0-9_.-]{1,64}"
_NAME: Final = re.compile(COMPONENT_NAME)


def is_component_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class EnvironmentStep:
    done: bool
    reward: float | None
    latency_s: float
    attempts: int
    components: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    reward: float | None
    """Sum over the steps; `None` for an episode that the environment ended without any reward."""
    components: dict[str, float]
    steps: int
    done: bool
    """True if the environment ended the episode, false if a limit did."""

    def to_sample(self) -> dict[str, Any]:
        return asdict(self)


LARGEST_REWARD: Final = 1e9
"""Absolute limit of a step's reward, as of any score."""
REWARD_KEYS: Final = ("reward", "components", "steps", "done")


def episode_reward(steps: Sequence[EnvironmentStep]) -> EpisodeReward:
    """Adds up a rollout's steps; one that a limit ended without any reward has 0."""
    done = any(step.done for step in steps)
    rewards = [step.reward for step in steps if step.reward is not None]
    components = dict[str, float]()
    for step in steps:
        for name, value in step.components.items():
            components[name] = components.get(name, 0.0) + value
    reward = None if done and not rewards else sum(rewards, 0.0)
    return EpisodeReward(reward, components, len(steps), done)


STORED_TOKENS: Final = 4096
"""Largest number of tokens of a rollout that are stored, its first ones."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    texts: list[str]
    """They join to the decoded turn; the first token of a character has all of it."""
    log_probs: list[float | None]
    """Natural log at the sampling temperature; `None` if it was not finite."""
    ratios: list[float | None]
    """Trainer's probability by the sampler's; `None` for a token that was not trained."""


_LISTS: Final = tuple(field.name for field in fields(RecordedTurn))


@dataclass(frozen=True, slots=True)
class TokenRecord:
    turns: list[RecordedTurn]
    omitted: int

    def to_json(self) -> Json:
        turns = [{name: getattr(turn, name) for name in _LISTS} for turn in self.turns]
        return {"turns": turns, "omitted": self.omitted}

    @classmethod
    def of_json(cls, stored: Json) -> Self:
        return cls([RecordedTurn(**turn) for turn in stored["turns"]], stored["omitted"])


UNKNOWN_TOOL: Final = "(unknown)"
UNPARSABLE_CALL: Final = "(unparsable)"
"""Names of tools in curves and records: calls of unknown names, calls that could not be parsed."""


def chat_messages(messages: Sequence[Json]) -> list[Json]:
    """Returns the messages of a trace as a chat has them: a call that could not be parsed, which a
    `tool` message answers, is marked.
    """
    marked = list(messages)
    for position, reply in enumerate(marked):
        if position and reply.get("name") == UNPARSABLE_CALL:
            mark = broken_call(reply["content"], tool_call_id=reply["tool_call_id"])
            marked[position - 1] = {**marked[position - 1], BROKEN_CALL: mark}
    return marked


class StopReason(StrEnum):
    """Reason why a rollout ended; each of these is graded."""

    FINAL_ANSWER = "final_answer"
    MAX_STEPS = "max_episode_steps"
    TOKEN_LIMIT = "token_limit"  # noqa: S105 - tokens of text, not a secret
    WALL_TIME = "wall_time"


class FailureClass(StrEnum):
    """Reason why a rollout left the batch; none of these is ever a reward."""

    TOOL_ERROR = "tool_error"
    """The tool endpoint kept answering 401/403/408/425/429/5xx."""
    TOOL_TIMEOUT = "tool_timeout"
    TOOL_UNREACHABLE = "tool_unreachable"
    TOOL_BAD_REPLY = "tool_bad_reply"
    ENVIRONMENT_ERROR = "environment_error"
    """The HTTP environment kept answering 408/425/429/5xx, or refused a call."""
    ENVIRONMENT_TIMEOUT = "environment_timeout"
    ENVIRONMENT_UNREACHABLE = "environment_unreachable"
    ENVIRONMENT_BAD_REPLY = "environment_bad_reply"
    GRADER_ERROR = "grader_error"
    GRADER_TIMEOUT = "grader_timeout"
    GRADER_UNREACHABLE = "grader_unreachable"
    GRADER_BAD_REPLY = "grader_bad_reply"
    GRADER_ITEM_MISSING = "grader_item_missing"
    """A grader's template reads a key that the row does not have."""
    GRADER_ITEM_UNREADABLE = "grader_item_unreadable"
    """The row has a value that the grader cannot read, such as a reference that is too long."""
    GRADER_BAD_SCORE = "grader_bad_score"
    """A grader's score is beyond the bound of scores."""
    ENDPOINT_REFUSED = "endpoint_refused"
    CANCELLED = "cancelled"
    """The rollout was cancelled from within, e.g. by a tool or grader that timed out."""

    @classmethod
    def of_fault(cls, kind: str, called: Literal["tool", "grader", "environment"]) -> Self:
        """Returns the class of a fault of an endpoint. `kind`: a `FaultKind` of kit."""
        if kind == "refused":
            return cls("endpoint_refused")
        return cls(f"{called}_{'bad_reply' if kind == 'too_large' else kind}")


ENVIRONMENT_FAILURES: Final = frozenset(
    one for one in FailureClass if one.value.startswith("environment_")
)
GRADER_FAILURES: Final = frozenset(one for one in FailureClass if one.value.startswith("grader_"))


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    id: str
    call_id: str
    name: str
    arguments: str
    output: str
    error: str | None
    """`None`, or the model's mistake: `bad_arguments`, `unknown_tool`, `http_404`, …"""
    latency_s: float
    attempts: int
    output_tokens: int
    repeated: bool
    """Same name and arguments as an earlier call of this rollout."""


@dataclass(frozen=True, slots=True)
class Turn:
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    policy_version: int
    content: str
    reasoning_tokens: int
    finish_reason: str
    tool_calls: tuple[ToolCallRecord, ...] = ()
    parse_error: str | None = None
    environment: EnvironmentStep | None = None
    texts: tuple[str, ...] = ()
    """Text of each token, as far as tokens of the rollout are stored."""
    row: int = 0
    """Index of the row of training that has its tokens."""


@dataclass(slots=True)
class TokenRow:
    """A context in which turns were sampled, one row of training. Its lists have equal length T;
    prompt and reply tokens carry mask 0 and log-prob 0.0, sampled tokens mask 1 and the log-prob
    recorded when they were sampled (natural log, at the sampling temperature).
    """

    tokens: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        if not len(self.tokens) == len(self.mask) == len(self.logprobs):
            raise ValueError(
                f"tokens, mask and logprobs must run parallel, got "
                f"{len(self.tokens)}, {len(self.mask)}, {len(self.logprobs)}"
            )

    def extend_context(self, token_ids: list[int]) -> None:
        self.tokens.extend(token_ids)
        self.mask.extend([0] * len(token_ids))
        self.logprobs.extend([0.0] * len(token_ids))

    def extend_sampled(self, token_ids: list[int], logprobs: list[float]) -> None:
        self.tokens.extend(token_ids)
        self.mask.extend([1] * len(token_ids))
        self.logprobs.extend(logprobs)
        self.check()


@dataclass(slots=True)
class Trajectory:
    """One rollout. A turn whose context does not begin with the tokens before it begins a new row:
    the chat template renders earlier turns otherwise than they were sampled.
    """

    key: SampleKey
    rows: list[TokenRow] = field(default_factory=lambda: [TokenRow()])
    """At least one. Each sampled token is in one row with mask 1."""
    turns: list[Turn] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    """The conversation in Chat Completions form, the row's own messages included."""
    in_environment: bool = False
    """True for an episode of an HTTP environment, which may reward it."""
    prompt_tokens: int = 0
    stop_reason: StopReason | None = None
    started_at: float = 0.0
    finished_at: float = 0.0

    @property
    def row(self) -> TokenRow:
        """The row in which the policy samples."""
        return self.rows[-1]

    @property
    def sampled_rows(self) -> list[TokenRow]:
        return [row for row in self.rows if any(row.mask)]

    def continue_in(self, context: list[int]) -> None:
        """`context` is all that the policy reads before its next turn."""
        length = len(self.row.tokens)
        if context[:length] != self.row.tokens:
            self.rows.append(TokenRow())
            length = 0
        self.row.extend_context(context[length:])

    @property
    def completion_tokens(self) -> int:
        return sum(sum(row.mask) for row in self.rows)

    @property
    def reasoning_tokens(self) -> int:
        return sum(turn.reasoning_tokens for turn in self.turns)

    @property
    def tool_calls(self) -> list[ToolCallRecord]:
        return [call for turn in self.turns for call in turn.tool_calls]

    @property
    def environment_steps(self) -> list[EnvironmentStep]:
        return [turn.environment for turn in self.turns if turn.environment is not None]

    @property
    def environment_reward(self) -> EpisodeReward | None:
        return episode_reward(self.environment_steps) if self.in_environment else None

    @property
    def policy_versions(self) -> tuple[int, int]:
        versions = [turn.policy_version for turn in self.turns] or [0]
        return min(versions), max(versions)


@dataclass(frozen=True, slots=True)
class Failure:
    failure_class: FailureClass
    message: str
    """The text for the customer, in which credentials that were sent are hidden."""
    source: str
    child: str | None = None
    measures: dict[str, dict[str, float]] = field(default_factory=dict)
    """Tokens of judges that did answer, and the flag of one without a score; see `Grade`."""
    details: str | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    score: float
    components: dict[str, float] = field(default_factory=dict)
    latency_s: float = 0.0
    measures: dict[str, dict[str, float]] = field(default_factory=dict)
    """Time, tokens and errors of each grader, by its name among a multi grader's children; the
    whole is `""`. `latency_s`, tokens as `prompt_tokens`, …, and 1.0 for each flag `errors/<flag>`.
    """
    details: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


GradeOrFailure = Grade | Failure


@dataclass(slots=True)
class ScoredRollout:
    trajectory: Trajectory
    grade: Grade | None = None
    failure: Failure | None = None
    advantage: float | None = None
    """The advantage that its tokens were trained with; `None` where it trained nothing."""
    shaped_reward: float | None = None
    """The reward less all terms of the objective, of a graded rollout of a trained step."""
    trainer_logprobs: Sequence[float | None] | None = None
    """Log-probs of its sampled tokens under the policy before the update, `None` for those of a row
    without a gradient, and instead of the list where it trained nothing.
    """

    def __post_init__(self) -> None:
        if (self.grade is None) == (self.failure is None):
            raise ValueError("a rollout is either graded or failed")

    @classmethod
    def of(cls, trajectory: Trajectory, verdict: GradeOrFailure) -> "ScoredRollout":
        match verdict:
            case Grade():
                return cls(trajectory, grade=verdict)
            case Failure():
                return cls(trajectory, failure=verdict)
            case _:
                assert_never(verdict)

    @property
    def key(self) -> SampleKey:
        return self.trajectory.key

    @property
    def reward(self) -> float | None:
        return None if self.grade is None else self.grade.score

    @property
    def grader_calls(self) -> int:
        """The number of graders that answered; a `multi` grader asks each of its children."""
        verdict = self.grade or self.failure
        names = [] if verdict is None else list(verdict.measures)
        children = sum(name != "" for name in names)
        return children or int(self.grade is not None or "" in names)
