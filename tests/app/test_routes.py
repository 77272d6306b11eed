"""Every router is part of the application: one that is left out would answer 404."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from fastapi import APIRouter
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from app.main import create_app
from tests.house.tree import module_name, python_files


def endpoints(routes: Sequence[BaseRoute]) -> set[Callable[..., Any]]:
    return {route.endpoint for route in iter_route_contexts(routes) if route.endpoint}


def test_the_application_has_the_routes_of_every_router() -> None:
    served = endpoints(create_app().routes)
    modules = [module_name(path) for path, text in python_files("app") if "APIRouter(" in text]
    routers = {
        f"{module}.{name}": value
        for module in modules
        for name, value in vars(import_module(module)).items()
        if isinstance(value, APIRouter)
    }
    assert len(routers) > 50
    assert [name for name, one in routers.items() if not endpoints(one.routes) <= served] == []
    assert all(endpoints(one.routes) for one in routers.values())
