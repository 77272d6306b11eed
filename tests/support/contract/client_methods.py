"""Finds the methods of the official client, calls them and checks every field of the replies."""

import inspect
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any

from openai import OpenAI
from pydantic import BaseModel

from tests.support.contract.calls import Args
from tests.support.contract.shapes import faults

# `method field: fault` where the answer differs from the client's types, as does the hosted one.
KNOWN = (
    # A job without an error has `{}`, one without hyperparameters of the old kind null.
    "fine_tuning.jobs.* error.code: *",
    "fine_tuning.jobs.* error.message: *",
    "fine_tuning.jobs.* hyperparameters: *",
    # The hosted API pauses jobs too; its client's type does not know the status.
    "fine_tuning.jobs.pause status: *",
    "fine_tuning.jobs.list status: *",
    # Null without an error; without a model, where answers are given; without a limit.
    "evals.runs.* error: *",
    "evals.runs.output_items.* sample.error: *",
    "evals.runs.* model: *",
    "evals.runs.output_items.* sample.max_completion_tokens: *",
)


def found_methods(client: OpenAI, roots: tuple[str, ...]) -> Iterator[str]:
    def walk(resource: Any, path: str) -> Iterator[str]:
        for name, member in inspect.getmembers(type(resource)):
            if name.startswith(("_", "with_")):
                continue
            if inspect.isfunction(member):
                yield f"{path}.{name}"
            else:
                yield from walk(getattr(resource, name), f"{path}.{name}")

    for root in roots:
        yield from walk(attrgetter(root)(client), root)


def method_of(client: Any, path: str, view: str | None = None) -> Any:
    *resources, name = path.split(".")
    found = client
    for resource in resources:
        found = getattr(found, resource)
    return getattr(found if view is None else getattr(found, view), name)


def invoke(method: Any, given: Args) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return method(*given.positional, **given.named)


def assert_whole(answer: Any, path: str) -> None:
    if isinstance(answer, BaseModel):
        left = [
            fault
            for fault in faults(answer)
            if not any(fnmatchcase(f"{path} {fault}", known) for known in KNOWN)
        ]
        assert left == [], "\n".join(left)
        if path.rsplit(".", 1)[1].startswith("list"):
            assert getattr(answer, "data", None), "a list without rows shows nothing"
    elif path != "webhooks.verify_signature":
        assert answer is not None
