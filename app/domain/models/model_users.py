"""Work that uses a model and has not ended, and the request that ends each kind of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_MOST_USERS: Final = 5
"""Largest number of users of a model in an error."""
_STUDENT: Final = "student"


@dataclass(frozen=True, slots=True)
class ModelUser:
    id: str
    noun: str
    cure: str
    """The request that ends this use early."""


def using_job(job_id: str) -> ModelUser:
    return ModelUser(job_id, "job", f"POST /v1/fine_tuning/jobs/{job_id}/cancel")


def using_run(eval_id: str, run_id: str) -> ModelUser:
    return ModelUser(run_id, "eval run", f"POST /v1/evals/{eval_id}/runs/{run_id}/cancel")


def using_export(model: str, export_id: str) -> ModelUser:
    return ModelUser(export_id, "export", f"DELETE /v1/models/{model}/exports/{export_id}")


def using_student(name: str) -> ModelUser:
    return ModelUser(name, _STUDENT, f"POST /v1/students/{name}/roll_back")


def used_by(users: Sequence[ModelUser]) -> str:
    """Returns a sentence about the users of a model, with the request that ends the first one of
    each kind.
    """
    taught = [user for user in users if user.noun == _STUDENT]
    if taught:
        named = ", ".join(f"'{user.id}'" for user in taught[:_MOST_USERS])
        return f"answers for student {named}. Let another skill answer first: {taught[0].cure}."
    more = f" and {len(users) - _MOST_USERS} more" if len(users) > _MOST_USERS else ""
    named = ", ".join(f"{user.noun} {user.id}" for user in users[:_MOST_USERS])
    first = {user.noun: user.cure for user in reversed(users)}
    cures = "; ".join(f"{first[noun]} ends the {noun}" for noun in sorted(first))
    verb = "has" if len(users) == 1 else "have"
    return (
        f"is used by {named}{more}, which {verb} not ended. Wait for the end, or end it: {cures}."
    )
