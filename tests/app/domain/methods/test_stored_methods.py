"""A job's method between its row and the classes that read it."""

from typing import Any

import pytest

from app.jobs.methods import (
    StoredDpoMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
    stored_method,
)
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, SupervisedMethod
from tests.support.cases import cases

GRADER = {"type": "endpoint", "url": "https://grader.example/", "mine": {"deep": [1, None]}}
DOCUMENTS: list[tuple[dict[str, Any], type, type]] = [
    (
        {"type": "reinforcement", "reinforcement": {"grader": GRADER, "later": 1}, "note": "x"},
        StoredReinforcementMethod,
        ReinforcementMethod,
    ),
    (
        {"type": "supervised", "supervised": {"train_on": "last"}},
        StoredSupervisedMethod,
        SupervisedMethod,
    ),
    ({"type": "dpo", "dpo": {"hyperparameters": {"beta": 0.2}}}, StoredDpoMethod, DpoMethod),
]


@cases(("document", "stored", "parsed"), DOCUMENTS)
def test_each_type_has_its_class_around_the_document_itself(
    document: dict[str, Any], stored: type, parsed: type
) -> None:
    method = stored_method(document)
    assert type(method) is stored
    assert method.document is document, "nothing is copied, validated or dropped on a read"
    assert method.options is document[document["type"]]
    assert type(method.parse()) is parsed
    assert method.parse().kind == method.kind == document["type"]


def test_an_old_row_is_read_though_its_options_are_refused_today() -> None:
    method = stored_method({"type": "dpo", "dpo": {"hyperparameters": {"beta": 5}}})
    assert method.options["hyperparameters"] == {"beta": 5}
    with pytest.raises(ValueError, match="beta"):
        method.parse()


def test_other_options_keep_the_rest_of_the_document() -> None:
    document = {"type": "supervised", "supervised": {"a": 1}, "note": "x"}
    changed = stored_method(document).with_options({"a": 2})
    assert changed == StoredSupervisedMethod(
        {"type": "supervised", "supervised": {"a": 2}, "note": "x"}
    )
    assert document["supervised"] == {"a": 1}


def test_an_unknown_type_is_no_method() -> None:
    with pytest.raises(ValueError, match="'later'"):
        stored_method({"type": "later", "later": {}})
