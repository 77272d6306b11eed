"""States whether a job would end with the same bits when it is run or resumed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.jobs.integrations import read_integration
from app.jobs.methods import METHOD_MODELS, stored_method
from app.kit.fields import Json
from app.kit.redaction import (
    SecretValues,
    redact_in_place,
    require_sealed,
    restore_secrets,
    split,
)


@dataclass(frozen=True, slots=True)
class EngineMachine:
    """An engine's reply about its machine."""

    processor: str
    batch_invariant: bool
    """True if a probe found the bits of a result independent of concurrent requests."""


@dataclass(frozen=True, slots=True)
class ClaimMachine:
    """The machine that one claim of a job runs on."""

    trainer: str
    """Processor and libraries of the trainer."""
    accelerated: bool
    """True if the trainer computes on an accelerator, whose sums have no fixed order."""
    in_order: bool
    """True if every run trains on the same samples: in mode `sync`, and for methods without modes.
    """
    samples: bool
    """True if the method trains on samples of an engine."""
    engine: EngineMachine | None
    """`None` for an engine without this information, and for a method that does not sample."""


def reproducibility(before: dict[str, Any] | None, claim: ClaimMachine) -> dict[str, Any]:
    """Returns the record after one more claim: `same_to_the_bit`, the `reasons` against it, and the
    `processors` of all claims.
    """
    record = before or {"reasons": [], "processors": []}
    processors = [f"trainer: {claim.trainer}"]
    if claim.samples and claim.engine is not None:
        processors.append(f"engine: {claim.engine.processor}")
    seen = _distinct([*record["processors"], *processors])
    reasons = list(dict.fromkeys([*record["reasons"], *_reasons(claim, seen)]))
    return {"same_to_the_bit": not reasons, "reasons": reasons, "processors": seen}


def _distinct(processors: Sequence[str]) -> list[str]:
    """Returns each description once. One that was recorded before products and threads were part of
    it counts as the same as a longer one of the same processor.
    """
    found = list(dict.fromkeys(processors))
    return [one for one in found if not any(other.startswith(f"{one}, ") for other in found)]


def _reasons(claim: ClaimMachine, processors: Sequence[str]) -> list[str]:
    found = []
    if claim.accelerated:
        found.append("The trainer computes on an accelerator.")
    if not claim.in_order:
        found.append("The mode trains in the order in which samples come.")
    if claim.samples and claim.engine is None:
        found.append("The engine does not say whether its results depend on the batch.")
    if claim.engine is not None and not claim.engine.batch_invariant:
        found.append("On its processor the engine's results depend on the batch.")
    parts = [one.split(":")[0] for one in processors]
    if len(parts) > len(set(parts)):
        found.append(
            "The job's claims ran on different processors, or with other products or threads."
        )
    return found


_INTEGRATIONS: Final = "integrations"
_BELOW: Final = f"/{_INTEGRATIONS}/"


def redact_method(method: Json) -> SecretValues:
    """Redacts a method in place, drops its unknown keys, and returns its secrets by JSON
    pointer.
    """
    kind = stored_method(method).kind
    return redact_in_place(METHOD_MODELS[kind], method, (kind,))


def restored_method(method: dict[str, Any], opened: dict[str, Any]) -> dict[str, Any]:
    """Returns the method with its secrets. Raises `SecretsMissing` when a value that the job uses
    is missing.
    """
    sealed = {at: value for at, value in opened.items() if not at.startswith(_BELOW)}
    kind = stored_method(method).kind
    require_sealed(METHOD_MODELS[kind], method, sealed, (kind,))
    whole: dict[str, Any] = restore_secrets(method, sealed)
    return whole


def split_integrations(integrations: list[Json]) -> tuple[list[Json], SecretValues]:
    """Returns a redacted copy, and its secrets by JSON pointer."""
    copy: Json = {_INTEGRATIONS: integrations}
    sealed: SecretValues = {}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        copy, found = split(type(read_integration(one)), copy, path)
        sealed |= found
    shown: list[Json] = copy[_INTEGRATIONS]
    return shown, sealed


def restored_integrations(integrations: list[Json], opened: SecretValues) -> list[Json]:
    """Returns the integrations with their secrets. Raises `SecretsMissing` when a value that a
    tracker uses is missing.
    """
    document = {_INTEGRATIONS: integrations}
    sealed = {at: value for at, value in opened.items() if at.startswith(_BELOW)}
    for position, one in enumerate(integrations):
        path = (_INTEGRATIONS, position)
        require_sealed(type(read_integration(one)), document, sealed, path)
    whole: list[Json] = restore_secrets(document, sealed)[_INTEGRATIONS]
    return whole
