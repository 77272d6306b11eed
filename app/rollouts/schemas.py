"""Rollouts and the paired report on the wire (an extension)."""

from dataclasses import fields
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.kit.fields import DescribedModel, Json
from app.kit.ids import Split
from app.kit.schemas import FORMAT_TEXT, Order, TableFormat
from app.rollouts.rollouts import RolloutFilter, RolloutOrder, RolloutRow
from app.rollouts.trajectory import FailureClass, StopReason, TokenRecord

_Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
_Reward = Annotated[float, Field(allow_inf_nan=False)]


class _Conditions(BaseModel):
    """The conditions on a job's rollouts; an unknown one is refused."""

    model_config = ConfigDict(extra="forbid")

    split: Split | None = None
    step: _Number | None = None
    prompt_index: _Number | None = Field(
        default=None, description="Row number in the split's file, from 0"
    )
    min_reward: _Reward | None = Field(default=None, description="Reward at least")
    max_reward: _Reward | None = Field(default=None, description="Reward at most")
    stop_reason: StopReason | None = Field(
        default=None, description="Why the rollout ended: an answer, or the limit that it reached"
    )
    failure_class: FailureClass | None = Field(
        default=None, description="The failure that the rollout was lost to; it has no reward"
    )
    failed: bool | None = Field(
        default=None, description="`true`: rollouts that were lost to any failure; `false`: others"
    )
    tool: str | None = Field(
        default=None, min_length=1, max_length=200, description="A tool that the rollout called"
    )
    repeated_call: bool | None = Field(
        default=None,
        description="`true`: rollouts with a call of the same tool and arguments as an earlier one "
        "of theirs; `false`: others",
    )

    def to_filter(self) -> RolloutFilter:
        return RolloutFilter(**{one.name: getattr(self, one.name) for one in fields(RolloutFilter)})


class RolloutQuery(_Conditions):
    """The parameters of the list of a job's rollouts; an unknown one is refused."""

    order_by: RolloutOrder = Field(
        default="step", description="`reward` lists graded rollouts only, of equal reward by step"
    )
    order: Order = "asc"
    after: str | None = Field(
        default=None, max_length=128, description="Id of the last object of the previous page"
    )
    limit: int = Field(default=20, ge=1, le=100)


class RolloutExportQuery(_Conditions):
    """The parameters of the export of a job's rollouts; an unknown one is refused."""

    format: TableFormat = Field(default="jsonl", description=FORMAT_TEXT)


class Rollout(DescribedModel):
    """One rollout of a job: its messages, calls and grades."""

    id: str
    object: Literal["fine_tuning.job.rollout"] = "fine_tuning.job.rollout"
    fine_tuning_job_id: str
    split: Split
    """`train`, `valid`, `valid_greedy` (temperature 0), `valid_base` or `report`."""
    step: int
    """The step that it belongs to; 0 is before training."""
    prompt_index: int
    """Row number in the split's file, from 0."""
    sample_index: int
    """Number of the rollout in its group, from 0."""
    trace_id: str
    """Id sent to tools and graders with the calls of this rollout."""
    reward: float | None
    """`null` when the rollout was discarded: a failure is never a reward."""
    shaped_reward: float | None = None
    """The reward less all terms of the job's objective; of graded rollouts of a trained step."""
    advantage: float | None = None
    """The advantage that its tokens were trained with, before a KL penalty, which changes that of
    each token by its own distance. `null` where it trained nothing: it
    belongs to no trained step, was lost, or its group is masked or has equal rewards.
    """
    failure_class: str | None
    """Class of the infrastructure failure, if the rollout was lost."""
    failure_message: str | None
    """The failure in a sentence."""
    stop_reason: str | None
    """`final_answer`, or the limit that it reached."""
    policy_version: int
    """The last version of the policy that sampled it."""
    prompt_tokens: int
    """Tokens of the prompt."""
    completion_tokens: int
    """Tokens that the policy sampled."""
    reasoning_tokens: int
    """The sampled tokens that are reasoning."""
    tool_calls: int
    """Tool calls that were run."""
    components: dict[str, float]
    """Numbers besides the reward, such as the scores of a multi grader's parts, by name."""
    trace: Json
    """Messages, turns, tool calls and grades."""
    started_at: float
    """Unix seconds."""
    finished_at: float
    """Unix seconds."""

    @classmethod
    def of(cls, row: RolloutRow) -> "Rollout":
        return cls.read(row, fine_tuning_job_id=row.job_id)


class TurnTokens(DescribedModel):
    """The sampled tokens of one turn, in three parallel lists."""

    texts: list[str]
    """Text of each token; joined, the decoded turn with its marks of calls and reasoning. The first
    token of a character that spans several has all of it, and the others are empty, like a token
    that ends the turn.
    """
    log_probs: list[float | None]
    """Natural log of the probability with which each token was sampled, at the sampling
    temperature.
    """
    ratios: list[float | None]
    """Probability of each token under the policy that was trained, before the update, divided by
    the one with which it was sampled. `null` for a token that was not trained: of a validation, of
    a lost rollout, or of a group that gave no gradient.
    """


class RolloutTokens(DescribedModel):
    """The tokens that the policy sampled in a rollout, with their log-probs."""

    object: Literal["fine_tuning.job.rollout.tokens"] = "fine_tuning.job.rollout.tokens"
    rollout_id: str
    """The rollout that sampled them."""
    turns: list[TurnTokens]
    """In the order of the trace; turns behind the last stored token have empty lists."""
    omitted_tokens: int
    """Number of sampled tokens that are not stored: those behind the first 4,096."""

    @classmethod
    def of(cls, rollout_id: str, record: TokenRecord) -> "RolloutTokens":
        turns = [TurnTokens.read(turn) for turn in record.turns]
        return cls(rollout_id=rollout_id, turns=turns, omitted_tokens=record.omitted)
