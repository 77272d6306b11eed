"""Applications that share the routes of one, for tests that start many of them.

FastAPI builds the models of a route when a request is first compared with it. That is half a second
of processor time for all routes of an application, and more than the rest of a test.
"""

from copy import copy
from functools import cache
from typing import Any

from fastapi import FastAPI
from starlette.datastructures import State

from app.main import create_app, lifespan_of
from app.settings import Settings


@cache
def _first() -> FastAPI:
    return create_app()


def application(settings: Settings) -> FastAPI:
    """Returns what `create_app(settings)` does, with the routes of the process's first."""
    app = copy(_first())
    app.state, app.middleware_stack = State(dict(app.state._state)), None
    app.router = router = copy(app.router)
    router.middleware_stack = router.app  # else that of the first router
    router.lifespan_context = lifespan_of(settings)
    return app


@cache
def specification() -> dict[str, Any]:
    """Returns the document that every application publishes; it is shared, so nobody changes it."""
    return _first().openapi()


def required_of(path: str) -> dict[str, int]:
    """Returns a value for each query parameter that the GET of a path requires."""
    parameters = specification()["paths"].get(path, {}).get("get", {}).get("parameters", [])
    return {one["name"]: 1 for one in parameters if one["in"] == "query" and one["required"]}
