"""Registered HTTP environments on the wire (an extension)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from app.kit.faults import UnreadKey
from app.kit.fields import DescribedModel, Json
from app.kit.schemas import ClosedBody, Metadata, WireModel
from app.tools.contracts import EnvironmentPlan, EnvironmentReport
from app.tools.registry import RegisteredVersion
from app.tools.schemas import ContractCheck, RegisteredObject, ToolName, Url, own_keys
from app.tools.tools import RateLimit

_Text = Annotated[str, StringConstraints(max_length=100_000)]


class _EnvironmentKeys(WireModel):
    """An unknown key with a text, number or boolean is named in the reply's `warnings`; one with an
    object or list is refused.
    """

    headers: Annotated[dict[str, str], Field(max_length=64)] | None = None
    """Headers sent with every call; stored encrypted, shown as `[redacted]`."""
    rate_limit: RateLimit | None = None
    """Limit of requests per second from jobs."""
    metadata: Metadata | None = None

    def known_keys(self) -> dict[str, Any]:
        """Returns the fields that were sent."""
        return self.model_dump(exclude_unset=True, include=set(type(self).model_fields))


class CreateEnvironment(_EnvironmentKeys):
    """A new registered environment."""

    type: Literal["http"] = "http"
    """Kind of the environment."""
    name: ToolName
    """Unique name in the project, used in messages about lost rollouts."""
    url: Url
    """Address that `reset`, `step` and `close` are POSTed to."""


class UpdateEnvironment(_EnvironmentKeys):
    """Changes that make a new version of an environment; absent fields do not change, and `null`
    removes an optional key.
    """

    name: ToolName | None = None
    """Name that no other environment of the project has; messages about lost rollouts have it."""
    url: Url | None = None
    """Address that `reset`, `step` and `close` are POSTed to."""


class Environment(RegisteredObject):
    """A version of a registered environment, which jobs refer to by id."""

    object: Literal["environment"] = "environment"
    type: Literal["http"]
    """Kind of the environment."""
    url: str
    """Address that `reset`, `step` and `close` are POSTed to, with query values redacted."""
    headers: dict[str, str] | None = None
    """Headers sent with every call, each shown as `[redacted]`."""
    rate_limit: float | None = None
    """Limit of requests per second from jobs."""

    @classmethod
    def of(cls, registered: RegisteredVersion, unread: Sequence[UnreadKey] = ()) -> "Environment":
        return cls.model_validate({**registered.definition, **own_keys(registered, unread)})


class EnvironmentTestCall(ClosedBody):
    """A tool call of the turn that a test sends."""

    name: ToolName
    """Name of the tool."""
    arguments: _Text = "{}"
    """The arguments as JSON text."""


class RunEnvironmentTest(ClosedBody):
    """The episode that a test plays with a registered environment."""

    task: Json | None = None
    """The row that is sent with `reset`; `messages` in it must be a conversation, as in a file."""
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    """The seed that is sent with `reset`."""
    content: _Text | None = None
    """Text of the turn that is sent with `step`. Without it and without `tool_calls`, the turn
    calls the first offered tool, or contains a sentence about the test.
    """
    tool_calls: Annotated[list[EnvironmentTestCall], Field(max_length=64)] | None = None
    """Tool calls of the turn."""

    def to_plan(self) -> EnvironmentPlan:
        calls = self.tool_calls
        return EnvironmentPlan(
            task=self.task or {},
            seed=self.seed,
            content=self.content,
            tool_calls=None if calls is None else tuple((c.name, c.arguments) for c in calls),
        )


class EnvironmentCheck(ContractCheck):
    """One check of a test."""


class EnvironmentExchange(DescribedModel):
    """One call of a test, with its answer."""

    call: str
    """`reset`, `step`, `step again` or `close`."""
    sent: Json
    """The body that was sent."""
    status: int | None
    """Status of the answer; `null` where there was none."""
    answered: str | None
    """The beginning of the answer's body."""
    latency_ms: float | None
    """Milliseconds until the answer."""


class EnvironmentTestResult(DescribedModel):
    """Results of the test of a registered environment."""

    model_config = ConfigDict(from_attributes=True)

    object: Literal["environment.test"] = "environment.test"
    environment_id: str
    """Id of the environment."""
    version: int
    name: str
    """Name of the environment."""
    url: str
    """Address that was called."""
    created_at: int
    duration_ms: float
    """Milliseconds of the whole test."""
    passed: bool
    """True when no check failed."""
    checks: list[EnvironmentCheck]
    """The checks, in the order in which they ran."""
    exchanges: list[EnvironmentExchange]
    """Every call with its answer, in order."""

    @classmethod
    def of(cls, report: EnvironmentReport) -> "EnvironmentTestResult":
        shown: Any = {
            name: getattr(report, name)
            for name in cls.model_fields
            if name not in ("object", "checks", "exchanges")
        }
        return cls(
            **shown,
            checks=[EnvironmentCheck.of(check) for check in report.checks],
            exchanges=[
                EnvironmentExchange(
                    call=each.call,
                    sent=each.sent,
                    status=each.status,
                    answered=each.answered,
                    latency_ms=each.latency_ms,
                )
                for each in report.exchanges
            ],
        )
