"""Makes the sets of questions that a student must not forget: an eval of a recipe's grader, with
one run whose rows the gate repeats.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from app.dashboard.students.curriculum_rows import kept_rows, rows_of
from app.dashboard.students.example_kinds import KINDS, ExampleKind
from app.dashboard.students.progress_words import RightCount
from app.dashboard.visitors import Visitor
from app.domain.errors import InvalidRequest, NotFound
from app.domain.evals.data_sources import SampledSource
from app.domain.evals.evals import EvalRunStatus, NewEval
from app.domain.graders.graders import read_grader
from app.domain.plans.recipes import PlanRecipe
from app.domain.students.students import MAX_REGRESSION_EVALS, PREFIX, Student

SAMPLES: Final = ("customer_support", "reasoning", "code_assistant")
"""Recipes whose sample questions can be asked without tools."""
_RATED: Final = (ExampleKind.WORDS, ExampleKind.NUMBER, ExampleKind.CODE)
_MOST: Final = 200
_SAMPLING: Final = {"temperature": 0.0, "max_completion_tokens": 256, "seed": 1}
FROM_SAMPLE: Final = "sample:"


@dataclass(frozen=True, slots=True)
class KeptSet:
    """A set that a student must not forget, and what the student could do when it was made."""

    name: str
    tally: RightCount | None
    """`None` until all of its questions were answered."""

    @property
    def sentence(self) -> str:
        if self.tally is None:
            return "Its questions are being asked for the first time."
        said = f"At first {self.tally.right} of {self.tally.rows} were answered right"
        return f"{said}." if self.tally.right else f"{said}, so that nothing can be lost here yet."


async def kept_sets(visitor: Visitor, student: Student, names: Mapping[str, str]) -> list[KeptSet]:
    """Returns the sets of a student. `names` are those of the evals that still exist."""
    found = list[KeptSet]()
    for each in student.regression_sets:
        tally = None
        with suppress(NotFound):
            run = await visitor.services.eval_runs().get(each.eval_id, each.run_id)
            if run.status is EvalRunStatus.COMPLETED:
                tally = RightCount(run.counts.passed, run.counts.total)
        found.append(KeptSet(names.get(each.eval_id, each.eval_id), tally))
    return found


async def keep(visitor: Visitor, name: str, source: str) -> Student:
    """Adds a set to those of a student: `sample:RECIPE`, or the id of a curriculum."""
    student = await visitor.services.students().get(name)
    known = [each.eval_id for each in student.regression_sets]
    if len(known) >= MAX_REGRESSION_EVALS:
        raise InvalidRequest(
            f"'{name}' must not forget {len(known)} things already, and more are not compared. "
            "Change the list with the API: POST /v1/students/NAME with 'regression_evals'."
        )
    recipe, title, rows = await _questions(visitor, source)
    made = await visitor.services.evals().create(
        NewEval(title, {"type": "object"}, False, (read_grader(recipe.options["grader"]),), None)
    )
    source_of_rows = SampledSource.model_validate(
        {
            "type": "completions",
            "source": {"type": "file_content", "content": [{"item": row} for row in rows]},
            "input_messages": {"type": "item_reference", "item_reference": "item.messages"},
            "model": f"{PREFIX}{name}",
            "sampling_params": _SAMPLING,
        }
    )
    await visitor.services.eval_runs().create(made.id, source_of_rows, name=title, metadata=None)
    return await visitor.services.students().update(name, (*known, made.id))


async def _questions(visitor: Visitor, source: str) -> tuple[PlanRecipe, str, list[dict[str, Any]]]:
    """Returns a recipe, the title of the set and its rows. Raises `InvalidRequest` for rows that no
    grader rates.
    """
    recipes = visitor.services.recipes()
    if source.startswith(FROM_SAMPLE):
        recipe_id = source.removeprefix(FROM_SAMPLE)
        if recipe_id not in SAMPLES:
            raise NotFound("There is no such sample of questions.")
        recipe = await recipes.get(recipe_id)
        sample = recipe.sample_curriculum
        rows = [] if sample is None else list(sample.validation)
        return recipe, f"Sample: {recipe.name}", rows
    curriculum = await visitor.services.curricula().get(source)
    kind = (await rows_of(visitor, curriculum)).kind
    rows = await kept_rows(visitor, curriculum)
    if kind not in _RATED or not rows:
        raise InvalidRequest(
            f"“{curriculum.name}” cannot be kept: no question of its tests has a right answer that "
            "can be checked. Choose examples with words or numbers of a right answer."
        )
    recipe = await recipes.get(KINDS[kind].recipe)
    return recipe, curriculum.name, rows[:_MOST]
