"""Checks the options of a recipe as the method of a job. Pure.

Must not know whether an address, a judge or a registered object exists.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, assert_never

from pydantic import ValidationError

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import WalkedField, walk_fields
from app.domain.environments.environments import built_in, is_graded_by
from app.domain.errors import InvalidRequest, refused_value
from app.domain.faults.unknown_keys import UNKNOWN_PARAMETER, unknown_key_error, unread
from app.domain.faults.values import refusal
from app.domain.jobs.creation.requests import RequestedMethod
from app.domain.methods.faults import reinforcement_faults
from app.domain.methods.method_models import parameters_of
from app.domain.methods.supervised import DpoMethod, MethodType, SupervisedMethod
from app.domain.plans.knobs import checked_knobs
from app.domain.plans.plan import CompiledPlan, PlanRequest, compile_plan
from app.domain.plans.recipes import RecipeText
from app.domain.registry.references import ReinforcementBody
from app.domain.secrets.redaction import split

OPTIONS: Final = "options"
_BODIES: Final[dict[MethodType, type[RequestedMethod]]] = {
    "supervised": SupervisedMethod,
    "dpo": DpoMethod,
    "reinforcement": ReinforcementBody,
}


def checked_options(recipe: RecipeText) -> RequestedMethod:
    """Returns the method that the options and knobs of a recipe compile to.

    Raises `InvalidRequest`, with the parameter at fault, for those that make no job, for an option
    that nothing reads or that a knob replaces, and for a secret: who reads a recipe would see it,
    and a registered object keeps it sealed.
    """
    checked_knobs(recipe.knobs, recipe.method)
    plan = compile_plan(
        PlanRequest(kind=recipe.method, knobs=recipe.knobs, call={}, options=recipe.options)
    )
    body = _read(recipe, plan)
    walked = list(walk_fields(type(body), body))
    _refuse_unread(recipe, body, walked)
    _refuse_replaced(recipe, plan)
    _refuse_secrets(body)
    for fault in _faults(body, walked):
        raise fault
    return body


def uncalled_options(body: RequestedMethod) -> tuple[str, ...]:
    """Returns the options whose addresses and judges no job of the recipe calls, as for a job: a
    built-in environment beside a grader of one's own.
    """
    match body:
        case ReinforcementBody():
            environment = built_in(body.environment)
            if environment is None or body.grader is None:
                return ()
            return () if is_graded_by(environment, body.grader) else ("environment",)
        case SupervisedMethod() | DpoMethod():
            return ()
        case _:
            assert_never(body)


def _faults(body: RequestedMethod, walked: Sequence[WalkedField]) -> Iterator[InvalidRequest]:
    match body:
        case ReinforcementBody():
            yield from reinforcement_faults(body, OPTIONS, walked)
        case SupervisedMethod() | DpoMethod():
            return
        case _:
            assert_never(body)


def _read(recipe: RecipeText, plan: CompiledPlan) -> RequestedMethod:
    try:
        return _BODIES[recipe.method].model_validate(plan.job["method"][recipe.method])
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise refusal(parameter(OPTIONS, fault["loc"]), [fault]) from error


def _refuse_unread(
    recipe: RecipeText, body: RequestedMethod, walked: Sequence[WalkedField]
) -> None:
    hints = parameters_of(recipe.method, body)
    for field in walked:
        if (unknown := unknown_key_error(field, OPTIONS, hints)) is not None:
            raise unknown
    for key in unread(walked, OPTIONS, hints):
        raise InvalidRequest(key.message, param=key.param, code=UNKNOWN_PARAMETER)


def _refuse_replaced(recipe: RecipeText, plan: CompiledPlan) -> None:
    """Refuses an option that differs from the value of a knob, which every job would have."""
    for knob in plan.explanation:
        for setting in knob.settings:
            path = setting.parameter.removeprefix(f"method.{recipe.method}.")
            if _differs(recipe.options, path, setting.value):
                raise refused_value(
                    f"{OPTIONS}.{path}",
                    f"the knob '{knob.knob}' sets it to {setting.value}: remove the option, or "
                    "send another position of the knob",
                )


def _differs(options: dict[str, Any], path: str, value: Any) -> bool:
    found: Any = options
    for name in path.split("."):
        if found is None:
            return False
        if not isinstance(found, dict):
            return True
        found = found.get(name)
    return found is not None and found != value


def _refuse_secrets(body: RequestedMethod) -> None:
    _, secrets = split((type(body),), body.model_dump(mode="json"))
    for at in secrets:
        param = parameter(OPTIONS, tuple(at.strip("/").split("/")))
        raise InvalidRequest(
            f"'{param}' is a secret, and a recipe shows all of its options. Register the "
            'grader, tool or environment, and name it here by its id: {"id": "…"}.',
            param=param,
            code="invalid_value",
        )
