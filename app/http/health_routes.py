"""Answers of the probes."""

from typing import Literal, Self

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import Field

from app.http.dependencies import Context
from app.http.error_replies import RETRY_AFTER_S
from app.http.health import Health, PartName
from app.kit.fields import DescribedModel
from app.kit.schemas import ErrorBody, ErrorEnvelope


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


router = APIRouter(tags=["Service"])


@router.get("/healthz", operation_id="liveness")
async def liveness() -> dict[str, str]:
    """Answers while the process runs. Needs no key."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    operation_id="readiness",
    response_model=Readiness,
    responses={503: {"model": NotReady, "description": "The database or the disk fails."}},
)
async def readiness(context: Context) -> Readiness | JSONResponse:
    """Reports the parts of the service: database, disk, broker, worker, engine, sandbox. Answers
    503 while the database does not answer or a disk has less free space than the minimum.
    """
    health = await context.health.look()
    if health.ready:
        return Readiness.of(health)
    body = NotReady.of(health).model_dump(mode="json")
    return JSONResponse(body, status_code=503, headers={"retry-after": RETRY_AFTER_S})
