"""Answers of the probes."""

from typing import Literal, Self

from pydantic import Field

from app.api.schemas.common import ErrorBody, ErrorEnvelope
from app.domain.documents.described import DescribedModel
from app.domain.processes.health import Health, PartName


class PartObject(DescribedModel):
    """The state of one part of the service."""

    status: Literal["ok", "failing"]
    """`failing` if the part does not do its work."""
    problem: str | None = Field(None, description="What is wrong, and what it means for callers")
    detail: str | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="More about a part that works: the layers of the sandbox",
    )


def _parts(health: Health) -> dict[PartName, PartObject]:
    return {
        name: PartObject(
            status="ok" if part.ok else "failing", problem=part.problem, detail=part.detail
        )
        for name, part in health.parts.items()
    }


class Readiness(DescribedModel):
    """A service that can be called."""

    status: Literal["ok", "degraded"] = Field(
        description="`degraded` while the broker, the workers, the engine or the sandbox fail: "
        "requests are served, jobs wait, calls of a model and graders that run code may fail"
    )
    parts: dict[PartName, PartObject]
    """The parts by name."""

    @classmethod
    def of(cls, health: Health) -> Self:
        status: Literal["ok", "degraded"] = "degraded" if health.degraded else "ok"
        return cls(status=status, parts=_parts(health))


class NotReady(ErrorEnvelope):
    """A service that cannot be called: its database fails, or its disk is full."""

    parts: dict[PartName, PartObject]
    """The parts by name."""

    @classmethod
    def of(cls, health: Health) -> Self:
        names = ", ".join(health.missing)
        problems = " ".join(health.parts[name].problem or "" for name in health.missing)
        error = ErrorBody(
            message=f"Not ready ({names}). {problems}",
            type="server_error",
            param=health.missing[0],
            code="service_unavailable",
        )
        return cls(error=error, parts=_parts(health))
