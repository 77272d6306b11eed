"""Usage, costs and the audit log on the wire. Source: the hosted API's `UsageResponse`."""

from collections.abc import Callable
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field

from app.accounts.audit import AuditEntry
from app.accounts.usage import UsageKind, UsagePage, UsageSum
from app.kit.fields import LEFT_OUT, DescribedModel
from app.kit.schemas import DescribedByItem

QuantityUnit = Literal["duration_seconds", "tokens"]


class _Groups(DescribedModel):
    project_id: str | None
    """The project, when results are grouped by it."""
    api_key_id: str | None
    """The API key that called, or that created the job, when results are grouped by it."""


class CompletionsUsage(_Groups):
    """The usage of chat completions."""

    object: Literal["organization.usage.completions.result"] = (
        "organization.usage.completions.result"
    )
    input_tokens: int
    """Tokens of prompts, cached ones included."""
    output_tokens: int
    """Tokens that were sampled."""
    input_cached_tokens: int
    """Tokens of prompts that the engine had in its cache."""
    input_audio_tokens: Literal[0] = 0
    """Always 0."""
    output_audio_tokens: Literal[0] = 0
    """Always 0."""
    num_model_requests: int
    """Chat completions."""
    user_id: None = None
    """Always `null`: the service has no users."""
    model: str | None
    """The model, when results are grouped by it."""
    batch: None = None
    """Always `null`: no call is a batch."""
    service_tier: None = None
    """Always `null`."""

    @classmethod
    def of(cls, sums: UsageSum) -> "CompletionsUsage":
        used = sums.amounts
        cached, requests = used.cached_tokens, used.requests
        return cls.read(sums, used, input_cached_tokens=cached, num_model_requests=requests)


class FineTuningUsage(_Groups):
    """The usage of training runs, up to their last committed step."""

    object: Literal["organization.usage.fine_tuning.result"] = (
        "organization.usage.fine_tuning.result"
    )
    input_tokens: int
    """Tokens of the prompts of rollouts."""
    output_tokens: int
    """Tokens that were sampled in rollouts."""
    trained_tokens: int
    """Tokens with a weight in the loss."""
    num_rollouts: int
    """Rollouts of training and validation, discarded ones included."""
    num_tool_calls: int
    """Calls of tools that rollouts made, refused ones included."""
    num_grader_calls: int
    """Scores that graders gave; each child of a `multi` grader counts."""
    judge_input_tokens: int
    """Tokens that model graders read."""
    judge_output_tokens: int
    """Tokens that model graders sampled."""
    training_seconds: float
    """Wall time of runs."""
    gpu_seconds: float
    """Wall time multiplied by the accelerators that trainers use; 0 on a CPU."""
    model: str | None
    """The model that training started from, when results are grouped by it."""
    fine_tuning_job_id: str | None
    """The job, when results are grouped by `job_id`."""

    @classmethod
    def of(cls, sums: UsageSum) -> "FineTuningUsage":
        used = sums.amounts
        return cls.read(
            sums,
            used,
            fine_tuning_job_id=sums.job_id,
            num_rollouts=used.rollouts,
            num_tool_calls=used.tool_calls,
            num_grader_calls=used.grader_calls,
            training_seconds=used.training_s,
            gpu_seconds=used.gpu_s,
        )


class CostAmount(DescribedModel):
    """An amount of money."""

    value: float
    """The amount."""
    currency: str
    """Currency of the amount, in small letters."""


class CostsResult(_Groups):
    """The cost of usage, at the prices that were configured then."""

    object: Literal["organization.costs.result"] = "organization.costs.result"
    amount: CostAmount | None
    """The cost; `null`: there was no price."""
    line_item: UsageKind | None
    """The usage that is paid for, when results are grouped by it."""
    quantity: float | None
    """Seconds of training, or tokens of completions, when results are grouped by `line_item`."""
    quantity_unit: QuantityUnit | None
    """Unit of the quantity."""

    @classmethod
    def of(cls, sums: UsageSum) -> "CostsResult":
        used, amount = sums.amounts, None
        quantity, unit = _quantity(sums)
        if used.cost is not None and used.currency is not None:
            amount = CostAmount(value=used.cost, currency=used.currency.lower())
        return cls.read(sums, amount=amount, quantity=quantity, quantity_unit=unit)


def _quantity(sums: UsageSum) -> tuple[float | None, QuantityUnit | None]:
    used = sums.amounts
    if sums.line_item is None:
        return None, None
    if sums.line_item == "fine_tuning":
        return used.training_s, "duration_seconds"
    return float(used.input_tokens + used.output_tokens), "tokens"


Result = TypeVar("Result")


class UsageBucketObject(DescribedByItem, Generic[Result]):
    """The usage of a minute, an hour or a day."""

    item_description: ClassVar[str] = "The `{}` objects of a minute, an hour or a day."
    object: Literal["bucket"] = "bucket"
    start_time: int
    """Unix seconds at which the bucket begins: a whole minute, hour or day (UTC), or the minute
    of the call's `start_time`.
    """
    end_time: int
    """Unix seconds at which it has ended."""
    results: list[Result]
    """A result for each group; empty without usage."""


class UsagePageObject(DescribedByItem, Generic[Result]):
    """A page of buckets, oldest first."""

    item_description: ClassVar[str] = "A page of buckets of `{}` objects, oldest first."
    object: Literal["page"] = "page"
    data: list[UsageBucketObject[Result]]
    """The buckets of this page."""
    has_more: bool
    """True if a further page follows."""
    next_page: str | None
    """Value of `page` for the following page; `null` on the last one."""


class CostsPageObject(UsagePageObject[CostsResult]):
    """A page of costs, oldest first."""

    unpriced: str | None
    """The usage without a price at present, with its settings; `null` while all has one."""


def page_of(
    page: UsagePage, to_wire: Callable[[UsageSum], Result], kind: type[UsageBucketObject[Result]]
) -> UsagePageObject[Result]:
    return UsagePageObject(
        data=buckets_of(page, to_wire, kind),
        has_more=page.next_page is not None,
        next_page=page.next_page,
    )


def buckets_of(
    page: UsagePage, to_wire: Callable[[UsageSum], Result], kind: type[UsageBucketObject[Result]]
) -> list[UsageBucketObject[Result]]:
    return [
        kind(
            start_time=bucket.start_s,
            end_time=bucket.end_s,
            results=[to_wire(sums) for sums in bucket.sums],
        )
        for bucket in page.buckets
    ]


_WITHOUT_DETAILS = ("login.succeeded", "logout.succeeded")


class AuditActorUser(DescribedModel):
    """The user of a session. The service has no users: it is the session's API key."""

    id: str
    """Id of the API key that began the session."""
    email: str | None = None
    """Always `null`."""


class AuditActorSession(DescribedModel):
    """A session of the dashboard."""

    user: AuditActorUser
    """The key that the session was begun with."""
    ip_address: str
    """Address that the change came from."""


class AuditActorAccount(DescribedModel):
    """A service account."""

    id: str


class AuditActorKey(DescribedModel):
    """An API key."""

    id: str
    type: Literal["user", "service_account"]
    """`service_account` for a key of a service account."""
    service_account: AuditActorAccount | None = Field(
        default=None, json_schema_extra={LEFT_OUT: True}
    )
    """The service account of the key."""
    ip_address: str
    """Address that the change came from."""


class AuditActor(DescribedModel):
    """The actor of a change."""

    type: Literal["api_key", "session", "command_line"]
    """`command_line`: a command of the operator on the machine of the service."""
    api_key: AuditActorKey | None = Field(default=None, json_schema_extra={LEFT_OUT: True})
    """The key, for the type `api_key`."""
    session: AuditActorSession | None = Field(default=None, json_schema_extra={LEFT_OUT: True})
    """The session, for the type `session`."""

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditActor":
        match entry.actor_kind:
            case "session":
                user = AuditActorUser(id=entry.actor_id)
                session = AuditActorSession(user=user, ip_address=entry.address)
                return cls(type="session", session=session)
            case "command_line":
                return cls(type="command_line")
            case _:
                account = entry.service_account_id
                key = AuditActorKey(
                    id=entry.actor_id,
                    type="user" if account is None else "service_account",
                    service_account=None if account is None else AuditActorAccount(id=account),
                    ip_address=entry.address,
                )
                return cls(type="api_key", api_key=key)


class AuditProject(DescribedModel):
    """The project that a change belongs to."""

    id: str
    name: str | None


class AuditLogEntry(DescribedModel):
    """A change. It has one more field, named like its `type`: the `id` of what was changed, with
    the `data` of a new object or the `changes_requested` of another one.
    """

    model_config = ConfigDict(extra="allow")

    id: str
    type: str
    """The kind of the change, such as `project.created`."""
    effective_at: int
    """Unix seconds of the change."""
    project: AuditProject | None = Field(default=None, json_schema_extra={LEFT_OUT: True})
    """The project; absent for a change of the organization."""
    actor: AuditActor
    """The key, session or command that made the change."""

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditLogEntry":
        shown: dict[str, Any] = {entry.type: _details(entry)}
        if entry.project_id is not None:
            shown["project"] = AuditProject(id=entry.project_id, name=entry.project_name)
        return cls.read(entry, actor=AuditActor.of(entry), **shown)


def _details(entry: AuditEntry) -> dict[str, Any]:
    if entry.type in _WITHOUT_DETAILS:
        return {}
    details: dict[str, Any] = {"id": entry.resource_id}
    if entry.details:
        is_new = entry.type.endswith("created")
        details["data" if is_new else "changes_requested"] = entry.details
    return details
