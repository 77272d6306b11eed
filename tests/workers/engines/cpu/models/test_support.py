"""Models that the engine can serve up to a length."""

from typing import Any

from tests.support.cases import cases
from tests.support.learning.rotating_models import LIMIT, dynamic, longrope
from workers.engines.cpu.models.versions import engine_fault


@cases("build", [longrope, dynamic])
def test_a_model_that_rotates_by_the_longest_row_is_served_up_to_its_pre_training(
    build: Any,
) -> None:
    model = build().eval().requires_grad_(False)
    assert engine_fault(model, context_length=LIMIT) is None
    assert f"a context_length of {LIMIT}" in str(engine_fault(model, context_length=LIMIT + 1))
