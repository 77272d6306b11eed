"""Builds the warnings about values of a new job that have no effect; each becomes an event."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from app.domain.documents.walk import WalkedField
from app.domain.faults.no_effect import NoEffect
from app.domain.faults.unknown_keys import unread, unread_message
from app.domain.jobs.creation.call_warnings import call_warnings, suffix_warnings
from app.domain.jobs.jobs import NewJob, TuningMethod
from app.domain.methods.faults import format_warning
from app.domain.methods.ineffective_options import without_effect
from app.domain.methods.method_models import parameters_of
from app.domain.methods.reinforcement import ReinforcementMethod
from app.domain.methods.supervised import DpoMethod, SupervisedMethod


def creation_warnings(new: NewJob, walked: Sequence[WalkedField]) -> list[str]:
    """Returns one message for each kind of warning; `walked` are the fields of the method."""
    kind = new.method.kind
    keys = [*new.unread, *unread(walked, f"method.{kind}", parameters_of(kind, new.method))]
    found = [
        unread_message(keys) if keys else None,
        *_of_method(new.method, walked),
        *(each.message for each in _of_call(new)),
        None if new.grader_choice is None else new.grader_choice.warning,
    ]
    return [message for message in found if message is not None]


def _of_call(new: NewJob) -> Iterator[NoEffect]:
    yield from new.overridden
    yield from suffix_warnings(new.suffix)
    yield from call_warnings(
        new.method,
        has_validation=new.validation_file is not None,
        has_rollout_cap=new.caps.max_rollouts is not None,
    )


def _of_method(method: TuningMethod, walked: Sequence[WalkedField]) -> list[str | None]:
    match method:
        case ReinforcementMethod():
            unused = without_effect(method, f"method.{method.kind}", walked)
            return [format_warning(method), *(each.message for each in unused)]
        case SupervisedMethod() | DpoMethod():
            return []
        case _:
            assert_never(method)
