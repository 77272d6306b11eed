"""The page about curves names every curve of the code with its meaning, and nothing else."""

import re
from dataclasses import fields
from pathlib import Path

from app.graders.scorer import GraderErrors
from app.rollouts import metrics as names
from app.rollouts.metrics import MEANINGS, SPLITS, meaning

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE))


def test_the_page_is_the_list_of_the_code() -> None:
    assert dict([*SPLITS.items(), *MEANINGS.items()]) == ROWS


def test_every_name_of_the_code_has_a_meaning() -> None:
    fixed = {
        value
        for name, value in vars(names).items()
        if name.isupper() and isinstance(value, str) and not name.startswith("_")
    }
    assert len(fixed) > 40
    assert sorted(name for name in fixed if meaning(name) is None) == []


def test_names_with_a_variable_part_are_read_as_such() -> None:
    for name in (
        names.tool_metric("lookup", "errors/http_404"),
        names.tool_metric("(unparsable)", "calls_mean"),
        names.discarded_metric("tool_timeout"),
        names.grader_metric("", "errors/invalid_variable_error"),
        names.grader_metric("exact/part", "latency_s_mean"),
        names.component_metric("wasted_calls"),
    ):
        assert meaning(name), name
    assert meaning(names.discarded_metric("count")) == MEANINGS[names.DISCARDED_COUNT]
    for name in ("reward", "train/los", "tool/lookup/price", "valid/reward/mean"):
        assert meaning(name) is None, name


def test_the_error_flags_are_those_of_a_grade() -> None:
    flags = {field.name for field in fields(GraderErrors) if field.type in (bool, "bool")}
    assert set(names.GRADER_ERROR_FLAGS) == flags
    assert meaning(names.grader_metric("", "errors/zzz")) is None
    assert meaning(names.discarded_metric("zzz")) is None
