"""The held-out part of the scenarios that a model wrote."""

from statistics import mean

from app.curricula.scenarios import GenerateScenarios, Scenario, ScenarioModel, ScenarioSet, split
from tests.support.cases import cases


@cases(
    ("training", "validation", "at_most"),
    [(24, 10, 0.025), (40, 10, 0.025), (40, 3, 0.05), (40, 1, 0.025)],
)
def test_held_out_tasks_are_as_hard_as_the_others(
    training: int, validation: int, at_most: float
) -> None:
    plan = GenerateScenarios.model_construct(
        generator=ScenarioModel(model="writer"),
        tools=[],
        training_tasks=training,
        validation_tasks=validation,
    )
    written = [Scenario(f"task {at}", 1 + at % 5) for at in range(plan.wanted)]
    result = ScenarioSet()
    split(plan, written, result)
    parts = result.training, result.validation
    assert tuple(map(len, parts)) == (training, validation)
    train, valid = (mean(row["difficulty"] for row in part) for part in parts)
    assert abs(train - valid) <= at_most
