"""`rate_limit`: one check and one sentence, whatever takes the calls."""

from typing import Any, Final

import pytest
from pydantic import BaseModel, ValidationError

from app.graders.kinds.remote import EndpointGrader
from app.tools.environment_options import HttpEnvironmentSpec
from app.tools.mcp_servers import McpServerSpec
from app.tools.schemas import CreateEnvironment, CreateTool
from app.tools.tools import ToolSpec, declared_rate, lowest_rate, rate_fault
from tests.support.cases import cases

URL: Final = "https://tools.example/"
TYPED: Final[tuple[tuple[type[BaseModel], dict[str, str]], ...]] = (
    (McpServerSpec, {"server_label": "a", "server_url": URL}),
    (HttpEnvironmentSpec, {"type": "http", "url": URL}),
    (EndpointGrader, {"type": "endpoint", "url": URL}),
    (CreateTool, {"name": "a", "server_url": URL}),
    (CreateEnvironment, {"name": "a", "url": URL}),
)
NO_RATES: Final = (0, -1, "5", True, [1], float("nan"))
MUST: Final = "it must be a number above 0, the calls per second"


@cases("sent", NO_RATES)
@cases(("model", "body"), TYPED)
def test_a_value_that_limits_nothing_is_refused(
    model: type[BaseModel], body: dict[str, str], sent: Any
) -> None:
    with pytest.raises(ValidationError) as raised:
        model.model_validate({**body, "rate_limit": sent})
    [fault] = raised.value.errors()
    assert (fault["loc"], fault["msg"]) == (("rate_limit",), MUST)


@cases(("model", "body"), TYPED)
def test_a_rate_is_a_float_however_many_digits_it_has(
    model: type[BaseModel], body: dict[str, str]
) -> None:
    for sent, rate in ((0.5, 0.5), (5, 5.0), (10**400, 1e6), (None, None)):
        read: Any = model.model_validate({**body, "rate_limit": sent})
        assert read.rate_limit == rate


@cases("sent", NO_RATES)
def test_a_tool_that_was_stored_with_such_a_value_is_read_and_has_no_rate(sent: Any) -> None:
    tool = ToolSpec.model_validate({"name": "a", "server_url": URL, "rate_limit": sent})
    assert declared_rate(tool) is None
    fault = rate_fault(sent, "tools[0].rate_limit")
    assert fault is not None
    assert (fault.param, fault.message) == (
        "tools[0].rate_limit",
        f"Invalid value for 'tools[0].rate_limit': {MUST}.",
    )


@cases(
    ("sent", "lowest"),
    [([3, 0.5, 7], 0.5), (["x", 1], "x"), ([1, [2]], [2]), ([1, {"a": 1}], {"a": 1}), ([2, 0], 0)],
)
def test_the_lowest_rate_counts_and_a_wrong_one_comes_first(sent: list[Any], lowest: Any) -> None:
    assert lowest_rate(sent) == lowest
