"""Faults of definitions that need no look-up: of tools, graders, environments and whole methods.

A create call and the registry refuse the first; `validate` reports all, with a service and without
one. Works on models and on JSON, valid or not. Makes no calls and knows no settings:
`app.tools.definition_check` adds what needs them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, assert_never

from pydantic import BaseModel

from app.graders.definitions import pattern_faults
from app.graders.kinds.python import source_faults
from app.graders.template_faults import template_fault
from app.kit.addresses import read_url
from app.kit.egress import check_headers
from app.kit.errors import EndpointRefused, InvalidRequest, refused_value
from app.kit.faults import NOWHERE, KeyHints, is_refused, unknown_key_error
from app.kit.fields import (
    AddressMark,
    EmbeddingMark,
    JudgeMark,
    Models,
    SecretMark,
    TemplateMark,
    WalkedField,
    headers_of,
    parameter,
    walk_fields,
)
from app.kit.redaction import MAX_CREDENTIALS, bound_faults, credentials_of, placeholder_faults

MAX_UNKNOWN_KEYS: Final = 200
"""Largest number of listed unknown keys of one call, for refused and accepted ones each."""
NOT_ALLOWED: Final = "endpoint_not_allowed"
_Choice = Callable[[str, WalkedField], bool]


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition at a parameter, and its fields: all checks of it share one walk."""

    root: str
    value: Any
    """A model, or JSON."""
    fields: Sequence[WalkedField]

    @classmethod
    def of(cls, root: str, value: BaseModel) -> "Definition":
        return cls.of_json(root, type(value), value)

    @classmethod
    def of_json(cls, root: str, models: Models, value: Any) -> "Definition":
        """Walks JSON of one of the models, valid or not."""
        return cls(root, value, list(walk_fields(models, value)))


def _every(root: str, field: WalkedField) -> bool:  # noqa: ARG001 - the default of a choice
    return True


def definition_faults(
    definitions: Sequence[Definition],
    *,
    elsewhere: KeyHints = NOWHERE,
    read: _Choice = _every,
    called: _Choice = _every,
) -> Iterator[InvalidRequest]:
    """Yields the faults in the order in which they are reported. `read` chooses the unknown keys
    that are judged, `called` the addresses.
    """
    walked = [(each.root, field) for each in definitions for field in each.fields]
    yield from bound_faults(walked)
    unknown = (one for one in walked if is_refused(one[1]) and read(*one))
    for root, field in islice(unknown, MAX_UNKNOWN_KEYS):
        if (fault := unknown_key_error(field, root, elsewhere)) is not None:
            yield fault
    for root, field in walked:
        if (fault := template_fault(field, root)) is not None:
            yield fault
    for definition in definitions:
        yield from placeholder_faults(definition.fields, definition.root)
    models = [(each.root, each.value) for each in definitions if isinstance(each.value, BaseModel)]
    yield from source_faults(models)
    yield from pattern_faults(models)
    for root, field in walked:
        if called(root, field):
            yield from _address_faults(field, root)


def _address_faults(field: WalkedField, root: str) -> Iterator[InvalidRequest]:
    """Yields the faults of an address and of its headers; none for any other field."""
    match field.mark:
        case AddressMark() as mark:
            url = mark.called(field.value)
        case SecretMark() | JudgeMark() | EmbeddingMark() | TemplateMark() | None:
            return
        case _:
            assert_never(field.mark)
    owner, name = parameter(root, field.path[:-1]), str(field.path[-1])
    sent = headers_of(field) or {}
    headers = {str(key): str(value) for key, value in sent.items()}
    at = f"{owner}.headers" if owner else "headers"
    try:
        read_url(url)
    except EndpointRefused as error:
        yield not_allowed(name, f"{owner}.{name}" if owner else name, error)
        return
    try:
        check_headers(headers)
    except EndpointRefused as error:
        yield not_allowed("headers", at, error)
    if len(credentials_of(headers, url)) > MAX_CREDENTIALS:
        yield refused_value(
            at,
            f"with the query of the address, they hold more than {MAX_CREDENTIALS} different "
            "credentials; send fewer",
        )


def not_allowed(field: str, param: str, error: EndpointRefused) -> InvalidRequest:
    return InvalidRequest(f"{field} is not allowed: {error}", param=param, code=NOT_ALLOWED)
