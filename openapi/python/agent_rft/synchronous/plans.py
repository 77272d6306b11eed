"""Recipes and improvement plans: the settings of a job in plain words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from typing_extensions import override

from agent_rft.arguments import body as body_of
from agent_rft.defaults import default_client
from agent_rft.presentation import Presentation
from agent_rft.synchronous.client import AgentRFT
from agent_rft.synchronous.jobs import TrainingJob
from agent_rft_client.api.improvement_plans import (
    compile_improvement_plan,
    explain_improvement_plan,
)
from agent_rft_client.api.recipes import (
    create_recipe,
    delete_recipe,
    list_recipes,
    retrieve_recipe,
    update_recipe,
)
from agent_rft_client.models.compile_improvement_plan import CompileImprovementPlan
from agent_rft_client.models.create_recipe import CreateRecipe
from agent_rft_client.models.deleted import Deleted
from agent_rft_client.models.explain_improvement_plan import ExplainImprovementPlan
from agent_rft_client.models.improvement_plan import ImprovementPlan as CompiledPlan
from agent_rft_client.models.improvement_plan_job import ImprovementPlanJob as CompiledJob
from agent_rft_client.models.improvement_plan_reading import ImprovementPlanReading
from agent_rft_client.models.recipe import Recipe as RecipeObject
from agent_rft_client.models.recipe_details import RecipeDetails
from agent_rft_client.models.recipe_rows import RecipeRows
from agent_rft_client.models.update_recipe import UpdateRecipe


class Recipe(Presentation):
    """Shows a recipe. `body` is the recipe as the service describes it."""

    def __init__(self, client: AgentRFT, body: RecipeObject | RecipeDetails) -> None:
        self._client, self.body = client, body

    @classmethod
    def create(cls, name: str, *, client: AgentRFT | None = None, **parts: Any) -> Self:
        """Makes a recipe of the project's own.

        `parts` are those of the call: `purpose`, `method`, `options`, `knobs`, `sample_curriculum`
        and others. Raises `BadRequestError` for a name that is taken, or with the first fault.
        """
        client = client or default_client()
        body = body_of(CreateRecipe, {"name": name, **parts})
        return cls(client, client.call(create_recipe.sync, RecipeDetails, body=body))

    @classmethod
    def get(cls, recipe_id: str, *, client: AgentRFT | None = None) -> Self:
        client = client or default_client()
        return cls(client, client.call(retrieve_recipe.sync, RecipeDetails, recipe_id))

    @classmethod
    def all(cls, *, client: AgentRFT | None = None) -> Iterator[Self]:
        """Yields the recipes that ship with the service, then those of the project."""
        client = client or default_client()
        for body in client.pages(list_recipes.sync, RecipeObject):
            yield cls(client, body)

    @property
    def id(self) -> str:
        return self.body.id

    def sample(self) -> dict[str, list[dict[str, Any]]]:
        """Returns the rows of its sample curriculum, by `training` and `validation`; empty without
        one.
        """
        details = self._client.call(retrieve_recipe.sync, RecipeDetails, self.id)
        sample = details.sample_curriculum
        rows = sample.to_dict() if isinstance(sample, RecipeRows) else {}
        return {part: rows[part] for part in ("training", "validation") if part in rows}

    def update(self, **changes: Any) -> Self:
        """Makes a new version of a recipe of the project's own, and shows it."""
        body = body_of(UpdateRecipe, changes)
        self.body = self._client.call(update_recipe.sync, RecipeDetails, self.id, body=body)
        return self

    def delete(self) -> None:
        """Deletes a recipe of the project's own."""
        self._client.call(delete_recipe.sync, Deleted, self.id)

    @override
    def facts(self) -> Mapping[str, object]:
        owner = self.body.owner
        return {"id": self.id, "name": self.body.name, "owner": owner, "purpose": self.body.purpose}


@dataclass(frozen=True, kw_only=True)
class ImprovementPlan:
    """Holds the knobs of a job; one without a value has the position of the recipe, or the default.

    `recipe` is an id (`reasoning`) or a recipe; without one, `method` says how to train.
    """

    recipe: str | Recipe | None = None
    method: Literal["reinforcement", "supervised", "dpo"] | None = None
    practice_mode: Literal["quick", "balanced", "thorough", "custom"] | None = None
    n_epochs: int | None = None
    drift_guard: int | None = None
    effort: Literal["light", "standard", "strong", "maximum"] | None = None
    creativity: int | None = None
    auto_stop: Literal["off", "warn", "pause", "stop"] | None = None
    target: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the part of a request that the plan stands for."""
        names = ("practice_mode", "n_epochs", "drift_guard", "effort", "creativity", "auto_stop")
        knobs = {name: getattr(self, name) for name in (*names, "target")}
        recipe = self.recipe.id if isinstance(self.recipe, Recipe) else self.recipe
        parts = {
            "recipe": recipe,
            "method": self.method,
            "knobs": {name: value for name, value in knobs.items() if value is not None},
        }
        return {name: value for name, value in parts.items() if value}

    def compile(self, model: str, *, client: AgentRFT | None = None, **parts: Any) -> CompiledPlan:
        """Returns the body of the job with the reason for each setting, and makes no job.

        `parts` are those of the call: `training_file`, `curriculum`, `grader`, `tools` and others.
        """
        client = client or default_client()
        body = body_of(CompileImprovementPlan, {"model": model, **planned(self, parts)})
        return client.call(compile_improvement_plan.sync, CompiledPlan, body=body)

    @staticmethod
    def explain(job: object, *, client: AgentRFT | None = None) -> ImprovementPlanReading:
        """Returns the knobs that come nearest to a job's settings, and what lies outside them.

        `job` is a job, its id, or the body of one, also that of a compiled plan.
        """
        client = client or default_client()
        body = body_of(ExplainImprovementPlan, _named(job))
        return client.call(explain_improvement_plan.sync, ImprovementPlanReading, body=body)


def planned(plan: ImprovementPlan | None, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parts of a call with those of a plan. Raises `TypeError` for another object, or
    for a part that the plan has too.
    """
    if plan is None:
        return dict(parts)
    if not isinstance(plan, ImprovementPlan):
        raise TypeError(
            f"a plan is an ImprovementPlan, as ImprovementPlan(recipe='reasoning'); not {plan!r}"
        )
    own = plan.to_dict()
    if both := sorted(name for name in own.keys() & parts.keys() if own[name] != parts[name]):
        raise TypeError(f"the plan has {both[0]!r} too: give it in one place")
    return {**own, **parts}


def _named(job: object) -> dict[str, Any]:
    if isinstance(job, Mapping):
        return {"job": dict(job)}
    if isinstance(job, TrainingJob):
        return {"job_id": job.id}
    if isinstance(job, str):
        return {"job_id": job}
    if isinstance(job, CompiledJob):
        return {"job": job.to_dict()}
    raise TypeError(f"a job is an object, an id, or a body; this is {type(job).__name__}")
