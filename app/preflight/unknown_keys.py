"""Reports the unknown keys of a create call: those that are refused, and those that are kept.

Accepts bodies that fail validation. Skips objects whose `type` is refused: which keys such an
object may have is not known.
"""

from typing import Any, Final

from app.domain.jobs.preflight import PreflightIssue
from app.domain.methods.kinds import METHOD_MODELS
from app.domain.methods.supervised import SupervisedMethod
from app.domain.secrets.placeholders import placeholder_faults
from app.domain.secrets.pointers import parameter
from app.domain.secrets.unknown_keys import UNKNOWN_PARAMETER, kept, refused, unknown_message
from app.domain.secrets.walk import Models, Place, places
from app.preflight.call import method_of, method_type

MAX_UNKNOWN_KEYS: Final = 200
"""Unknown keys of one call that are listed as errors."""


def unknown_keys(body: dict[str, Any], *, reported: set[str | None]) -> list[PreflightIssue]:
    """Returns an error for each unknown key that a create call refuses, and one warning for the
    others. Parameters in `reported` have an error already.
    """
    refusals, names = [], []
    for models, root, value in _parts(body):
        walked = [
            place
            for place in places(models, value)
            if not _of_refused_type(place, root=root, reported=reported)
        ]
        refusals += [fault for place in walked if (fault := refused(place, root)) is not None]
        refusals += placeholder_faults(models, value, root=root)
        names += kept(walked, root)
    found = [
        PreflightIssue("error", fault.code or "invalid_value", fault.message, fault.param)
        for fault in refusals[:MAX_UNKNOWN_KEYS]
        if fault.param not in reported
    ]
    if names:
        found.append(PreflightIssue("warning", UNKNOWN_PARAMETER, unknown_message(names), names[0]))
    return found


def _parts(body: dict[str, Any]) -> list[tuple[Models, str, Any]]:
    """The parts of a body that keep unknown keys, each with its models and its parameter."""
    kind = method_type(body)
    parts: list[tuple[Models, str, Any]] = [
        (METHOD_MODELS[kind], f"method.{kind}", method_of(body).get(kind))
    ]
    if kind == "supervised":
        deprecated = {"hyperparameters": body.get("hyperparameters")}
        parts.append((SupervisedMethod, "", deprecated))
    return parts


def _of_refused_type(place: Place, *, root: str, reported: set[str | None]) -> bool:
    """Says if an object around the place has a `type` that was reported."""
    return any(
        parameter(root, (*place.path[:depth], "type")) in reported
        for depth in range(len(place.path))
    )
