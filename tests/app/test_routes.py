"""Every module of routes is part of the application: one that is left out would answer 404."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from app.main import create_app
from tests.house.tree import python_files
from tests.support.cases import cases

OF_PAGES = "app.pages.routes"
"""The router that joins those of the pages."""


def routers(room: str) -> dict[str, APIRouter]:
    """Returns the routers of a room by the name of their module."""
    names = [".".join(path.with_suffix("").parts) for path, _ in python_files(room)]
    modules = {name: import_module(name.removesuffix(".__init__")) for name in names}
    found = {name: getattr(module, "router", None) for name, module in modules.items()}
    return {name: router for name, router in found.items() if isinstance(router, APIRouter)}


def endpoints(routes: Sequence[BaseRoute]) -> set[Callable[..., Any]]:
    return {route.endpoint for route in iter_route_contexts(routes) if route.endpoint}


def test_every_module_of_routes_has_a_router() -> None:
    modules = {path for path, _ in python_files("app/api") if path.parent == Path("app/api")}
    named = {".".join(path.with_suffix("").parts) for path in modules if path.stem != "__init__"}
    assert named <= routers("app/api").keys()


@cases("room", ["app/api", "app/dashboard"])
def test_the_application_has_the_routes_of_every_router(room: str) -> None:
    found = routers(room)
    found.pop(OF_PAGES, None)
    assert len(found) > 15
    served = endpoints(create_app().routes)
    assert [name for name, one in found.items() if not endpoints(one.routes) <= served] == []
    assert all(endpoints(one.routes) for one in found.values())
