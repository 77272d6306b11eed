"""Parts of a create call that change nothing, as far as the call alone shows it.

What the rollouts show, such as equal rewards and tools that nobody calls, the baseline tells.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, assert_never

from app.graders.definitions import AnyGrader
from app.graders.template_faults import REWARDS_ALIKE, constant_scores
from app.jobs.jobs import TuningMethod
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.errors import NoEffect, unused_option
from app.kit.fields import value_of
from app.models.models import suffix_in_name
from app.tools.environments import is_graded_by

NO_REPORT: Final = "no_report"
LEAST_RATE: Final = 1e-4
"""Smallest `learning_rate_multiplier` without a warning: a thousand steps of it move a weight by a
tenth of one step at the base model's own rate.
"""
_TIME: Final = "max_training_time_s"
_OF_VALIDATIONS: Final = ("plateau", "target", "gap")
"""Stop rules that read validations."""


def call_warnings(
    method: TuningMethod, *, has_validation: bool, has_rollout_cap: bool
) -> Iterator[NoEffect]:
    """Yields the fields of a method without effect. `has_validation` says whether the call brings
    held-out rows.
    """
    root = f"method.{method.kind}"
    match method:
        case ReinforcementMethod():
            yield from _of_grader(method, root)
            yield from _of_stop(method, root)
        case SupervisedMethod() | DpoMethod():
            if has_rollout_cap:
                why = f"a job of the method '{method.kind}' has no rollouts; '{_TIME}' limits it"
                yield unused_option("max_rollouts", why)
            if not has_validation:
                yield from _without_validations(method, root)
            yield from _negative_loss(method, root)
        case _:
            assert_never(method)
    yield from tiny_rate(method, root)


def _of_grader(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    grader, environment = method.grader, method.environment
    param = f"{root}.grader"
    yield from constant_scores(grader, param, REWARDS_ALIKE)
    for name in grader.unused_parts:
        part = f"{param}.graders.{name}"
        message = f"'{part}' changes nothing: 'calculate_output' does not use it"
        yield NoEffect("unused_grader", part, message)
    if environment is None or not is_graded_by(environment, grader):
        for name, child in grader.parts.items():
            if child.pass_threshold is not None:
                yield unused_option(
                    f"{param}.graders.{name}.pass_threshold",
                    "the reward of the formula passes or fails as a whole, by "
                    f"'{param}.pass_threshold'",
                )
    if environment is not None and not is_graded_by(environment, grader):
        for name, field in type(environment).model_fields.items():
            if name in environment.grader_options and getattr(environment, name) != field.default:
                yield unused_option(
                    f"{root}.environment.{name}",
                    "it is about the environment's own grader, and the job has another one in "
                    f"'{param}'",
                )
    for judge in paths_of_judges(grader, root):
        yield NoEffect(
            "judged_apart",
            judge,
            f"'{judge}' judges the rollouts of base and tuned model in groups of their own, whose "
            "scores are not comparable, and groups of one where "
            f"'{root}.hyperparameters.eval_samples' is 1: validations and the report can miss a "
            "gain. Measure it by an eval with a grader of single answers",
        )


def paths_of_judges(grader: AnyGrader, root: str) -> list[str]:
    """Returns the parameters of the graders that score the rollouts of a group against each
    other, in a method at `root`.
    """
    parts = (
        f"{root}.grader.graders.{name}"
        for name, part in grader.parts.items()
        if part.compares_rollouts
    )
    return [f"{root}.grader"] if grader.compares_rollouts else list(parts)


def _of_stop(method: ReinforcementMethod, root: str) -> Iterator[NoEffect]:
    stop, grader = method.stop, method.grader
    if stop is None:
        return
    target = stop.target
    if target is not None and target.action != "off":
        why = grader.out_of_reach(target.value)
        if why is not None:
            yield unused_option(f"{root}.stop.target.value", why)
    if grader.lowest is None or grader.highest is None or stop.gap.action == "off":
        return
    if (
        stop.gap.threshold > grader.highest - grader.lowest
        and "threshold" in stop.gap.model_fields_set
    ):
        yield unused_option(
            f"{root}.stop.gap.threshold", "the scores of the grader never differ by that much"
        )


def _without_validations(method: SupervisedMethod | DpoMethod, root: str) -> Iterator[NoEffect]:
    yield NoEffect(
        NO_REPORT,
        "validation_file",
        f"A job of the method '{method.kind}' without 'validation_file' has no validations and no "
        "report: nothing will show whether the tuned model is better than the base model on rows "
        "that it has not seen. Send held-out rows, 10 at least, as 'validation_file'",
    )
    stop = method.stop
    for name in () if stop is None else _OF_VALIDATIONS:
        rule = getattr(stop, name)
        if stop is not None and name in stop.model_fields_set and rule and rule.action != "off":
            yield unused_option(
                f"{root}.stop.{name}", "it compares validations, and the job has none"
            )


def _negative_loss(method: SupervisedMethod | DpoMethod, root: str) -> Iterator[NoEffect]:
    """Yields a target that no loss reaches; some losses of preferences are below 0."""
    target = None if method.stop is None else method.stop.target
    is_on = target is not None and target.action != "off"
    if target is not None and is_on and target.value < 0 and method.kind == "supervised":
        why = f"a validation loss is at least 0, so that none reaches {target.value:g}"
        yield unused_option(f"{root}.stop.target.value", why)


def tiny_rate(method: Any, root: str) -> Iterator[NoEffect]:
    """Yields the learning rate that changes next to nothing; `method` is a method or its JSON."""
    rate = value_of(value_of(method, "hyperparameters"), "learning_rate_multiplier")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 < rate < LEAST_RATE:
        param = f"{root}.hyperparameters.learning_rate_multiplier"
        yield NoEffect(
            "tiny_learning_rate",
            param,
            f"'{param}' of {rate:g} makes steps so small that the job changes next to nothing, and "
            "the model stays what it is: 1 is the base model's own rate, and values from 0.1 to 10 "
            "are usual",
        )


def overridden(older: Any, newer: Any) -> Iterator[NoEffect]:
    """Yields the deprecated top-level hyperparameters that have another value inside the method,
    which takes precedence. Both are JSON, valid or not.
    """
    if not isinstance(older, Mapping) or not isinstance(newer, Mapping):
        return
    for name, value in older.items():
        if value is not None and newer.get(name) is not None and newer[name] != value:
            param = f"hyperparameters.{name}"
            yield unused_option(
                param, f"'method.supervised.{param}' has another value, which is used"
            )


def suffix_warnings(suffix: Any) -> Iterator[NoEffect]:
    """Yields the suffix whose characters are not all in the tuned model's name; capital letters
    become small ones without a warning.
    """
    if not isinstance(suffix, str) or suffix_in_name(suffix) == suffix.lower():
        return
    shown = suffix_in_name(suffix)
    instead = f"has '{shown}' instead" if shown else "has none"
    yield NoEffect(
        "suffix_changed",
        "suffix",
        f"The name of the tuned model {instead} of the suffix '{suffix}': a name has small letters "
        "from a to z, digits and '-'",
    )
