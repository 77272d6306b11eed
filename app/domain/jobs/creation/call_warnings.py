"""Finds parts of a create call that its method rules out: caps on rollouts without any, rules that
wait for validations without held-out rows, and the report that such a job lacks.

One list for the warnings of `validate` and the events of a new job. Must not know files.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, assert_never

from app.domain.faults.no_effect import NoEffect, unused_option
from app.domain.jobs.jobs import TuningMethod
from app.domain.methods.effects.out_of_reach import offline_out_of_reach
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, OfflineMethodType, SupervisedMethod
from app.domain.models.models import suffix_in_name

NO_REPORT: Final = "no_report"
_TIME: Final = "max_training_time_s"
_OF_VALIDATIONS: Final = ("plateau", "target", "gap")
"""Stop rules that read validations."""


def call_warnings(
    method: TuningMethod, *, has_validation: bool, has_rollout_cap: bool
) -> Iterator[NoEffect]:
    """Yields the parts of a call without effect; of a reinforcement job, its method has them all.
    `has_validation` says whether the call brings held-out rows.
    """
    match method:
        case ReinforcementMethod():
            return
        case SupervisedMethod() | DpoMethod():
            root = f"method.{method.kind}"
            if has_rollout_cap:
                why = f"a job of the method '{method.kind}' has no rollouts; '{_TIME}' limits it"
                yield unused_option("max_rollouts", why)
            if not has_validation:
                yield _without_report(method.kind)
                yield from _rules_without_validations(method, root)
            yield from offline_out_of_reach(method, root)
        case _:
            assert_never(method)


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


def _without_report(kind: OfflineMethodType) -> NoEffect:
    return NoEffect(
        NO_REPORT,
        "validation_file",
        f"A job of the method '{kind}' without 'validation_file' has no validations and no report: "
        "nothing will show whether the tuned model is better than the base model on rows that it "
        "has not seen. Send held-out rows, 10 at least, as 'validation_file'",
    )


def _rules_without_validations(
    method: SupervisedMethod | DpoMethod, root: str
) -> Iterator[NoEffect]:
    stop = method.stop
    if stop is None:
        return
    for name in _OF_VALIDATIONS:
        rule = getattr(stop, name)
        if name in stop.model_fields_set and rule is not None and rule.action != "off":
            yield unused_option(
                f"{root}.stop.{name}", "it compares validations, and the job has none"
            )
