"""Usage of an organization: what chats and training runs used, in buckets of time. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, Literal

UsageKind = Literal["completions", "fine_tuning"]
UsageGrouping = Literal["project_id", "api_key_id", "model", "job_id", "line_item"]
BucketWidth = Literal["1m", "1h", "1d"]
MINUTE_S: Final = 60
WIDTHS_S: Final[Mapping[BucketWidth, int]] = {"1m": MINUTE_S, "1h": 3600, "1d": 86_400}


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts of one record, or sums of them."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    trained_tokens: int = 0
    rollouts: int = 0
    tool_calls: int = 0
    grader_calls: int = 0
    judge_input_tokens: int = 0
    judge_output_tokens: int = 0
    training_s: float = 0.0
    gpu_s: float = 0.0
    cost: float | None = None
    """`None` while no price is configured."""
    currency: str | None = None

    def plus(self, other: "Amounts") -> "Amounts":
        """Returns the sum of two amounts in one currency."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Amounts(
            **counts,
            cost=sum(costs) if costs else None,
            currency=other.currency or self.currency,
        )


COUNTS: Final = tuple(f.name for f in fields(Amounts) if f.name not in ("cost", "currency"))


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """The usage of one committed step, or of chats of one minute."""

    id: str
    kind: UsageKind
    key_id: str
    model: str
    used_at: int
    amounts: Amounts
    job_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """The records to add up, from `start_s` until before `end_s`. An empty filter is none."""

    kind: UsageKind | None
    start_s: int
    end_s: int
    width: BucketWidth = "1d"
    group_by: tuple[UsageGrouping, ...] = ()
    project_ids: tuple[str, ...] = ()
    key_ids: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    job_ids: tuple[str, ...] = ()
    in_money: bool = False
    """Adds costs up too, those of each currency apart."""

    def in_whole_minutes(self) -> "UsageQuery":
        """Returns the query with every minute that it touches: chats are recorded by the minute."""
        end_s = -(-self.end_s // MINUTE_S) * MINUTE_S
        return replace(self, start_s=self.start_s // MINUTE_S * MINUTE_S, end_s=end_s)


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The sum of a group in a bucket; what is not grouped by is `None`."""

    amounts: Amounts
    project_id: str | None = None
    api_key_id: str | None = None
    model: str | None = None
    job_id: str | None = None
    line_item: UsageKind | None = None


@dataclass(frozen=True, slots=True)
class UsageBucket:
    start_s: int
    end_s: int
    sums: list[UsageSum] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UsagePage:
    buckets: list[UsageBucket]
    next_page: str | None


def buckets_of(query: UsageQuery, *, first_s: int, limit: int) -> list[UsageBucket]:
    """Returns empty buckets from `first_s` on. They begin at whole minutes, hours or days (UTC);
    the first and the last one are cut at the ends of the query.
    """
    width = WIDTHS_S[query.width]
    made: list[UsageBucket] = []
    start = first_s
    while start < query.end_s and len(made) < limit:
        end = min(start // width * width + width, query.end_s)
        made.append(UsageBucket(start, end))
        start = end
    return made
