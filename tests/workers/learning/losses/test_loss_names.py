"""A loss has a class of options in the domain and a class of its formula here, under one name."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from app.jobs.losses import LossOptions, PolicyLoss, PreferenceLoss, SupervisedLoss
from tests.support.cases import cases
from workers.learning.losses.build import LOSSES

UNIONS: tuple[Any, ...] = (SupervisedLoss, PreferenceLoss, PolicyLoss)
REQUIRED: dict[str, dict[str, float]] = {"dro": {"beta": 0.05}}
"""Options without a default."""


def options_of(union: Any) -> dict[str, type[LossOptions]]:
    """Returns the classes of an annotation by the `type` of each."""
    members, *_ = get_args(union)
    return {get_args(each.model_fields["type"].annotation)[0]: each for each in get_args(members)}


def test_the_losses_that_are_built_are_those_that_a_job_may_name() -> None:
    named = [name for union in UNIONS for name in options_of(union)]
    assert len(named) > 8
    assert sorted(named) == sorted(LOSSES)


@cases("union", UNIONS)
def test_each_class_of_an_annotation_is_read_by_its_name(union: Any) -> None:
    """`one_of` lists the classes of the annotation once more."""
    declared = options_of(union)
    read = {
        name: type(TypeAdapter(union).validate_python({"type": name, **REQUIRED.get(name, {})}))
        for name in declared
    }
    assert read == declared
    with pytest.raises(ValueError, match=f"there are {', '.join(declared)}"):
        TypeAdapter(union).validate_python({"type": "none"})
