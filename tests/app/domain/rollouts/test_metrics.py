"""Names of curves: the parts that a name is made of can be read back from it."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kit.texts import TOOL_NAME
from app.rollouts.metrics import (
    REWARD_MEAN,
    ToolMetric,
    discard_values,
    discarded_metric,
    drop_non_finite,
    tool_metric,
)
from tests.support.cases import cases

QUANTITIES = ("calls_mean", "tokens_per_call", "latency_s_mean", "errors", "errors/unknown_tool")


@given(tool=st.from_regex(TOOL_NAME, fullmatch=True), quantity=st.sampled_from(QUANTITIES))
def test_every_tool_name_that_is_allowed_is_read_back(tool: str, quantity: str) -> None:
    assert ToolMetric.parse(tool_metric(tool, quantity)) == ToolMetric(tool, quantity)


def test_a_call_of_an_unknown_tool_has_curves_too() -> None:
    assert tool_metric("(unknown)", "errors/unknown_tool") == "tool/(unknown)/errors/unknown_tool"
    assert ToolMetric.parse("tool/(unknown)/errors") == ToolMetric("(unknown)", "errors")


@cases("tool", ["a/b", "", "/"])
def test_a_tool_name_that_could_not_be_read_back_is_refused(tool: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(tool))):
        tool_metric(tool, "errors")


@cases("name", [REWARD_MEAN, "tool_calls/mean", "tool/x", "grader/tool/x/errors"])
def test_other_curves_are_no_tools(name: str) -> None:
    assert ToolMetric.parse(name) is None


def test_discarded_rollouts_are_listed_by_class() -> None:
    values = {discarded_metric("tool"): 2.0, discarded_metric("grader_refused"): 1.0, "a": 3.0}
    assert discard_values(values) == {"grader_refused": 1.0, "tool": 2.0}


def test_values_that_are_no_points_are_removed_by_name() -> None:
    values = {"a": 1.0, "c": math.inf, "b": math.nan}
    assert drop_non_finite(values) == ["b", "c"]
    assert values == {"a": 1.0}
