"""The generated client sends no body for one that the caller left out."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import agent_rft_client.api
from agent_rft_client.types import UNSET


def _operations() -> Iterator[ModuleType]:
    api = agent_rft_client.api
    for found in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
        module = importlib.import_module(found.name)
        if hasattr(module, "_get_kwargs"):
            yield module


def test_an_operation_whose_body_is_left_out_sends_none() -> None:
    seen = set[str]()
    for module in _operations():
        wanted = inspect.signature(module._get_kwargs).parameters.values()
        body = next((one for one in wanted if one.name == "body"), None)
        if body is None or body.default is not UNSET:
            continue
        ids = ["id" for one in wanted if one.default is one.empty and one.name != "client"]
        request = module._get_kwargs(*ids)
        assert request.keys() <= {"method", "url", "headers", "params"}, module.__name__
        seen.add(module.__name__.rpartition(".")[2])
    assert {"resume_fine_tuning_job", "test_tool", "test_environment"} <= seen
