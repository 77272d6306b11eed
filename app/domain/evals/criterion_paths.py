"""Faults of the paths of an eval's criteria: misspelt parts of a sample, and fields that the schema
of the items excludes. Pure. An item may come with a sample that has keys of its own.
"""

from difflib import get_close_matches
from typing import Any, Final

from app.domain.documents.pointers import parameter
from app.domain.documents.walk import FieldKind, WalkedField
from app.domain.errors import InvalidRequest, refused_value
from app.domain.graders.templates.template_faults import SAMPLE_KEYS, placeholders
from app.domain.graders.templates.templates import Placeholder

_KEYS: Final = tuple(key for key in (*SAMPLE_KEYS, "model") if key != "environment")


def path_fault(
    field: WalkedField, root: str, *, item_schema: dict[str, Any]
) -> InvalidRequest | None:
    """Returns the error for the first path of a template that leads nowhere in every item."""
    for placeholder in placeholders(field.value) if field.kind is FieldKind.TEMPLATE else ():
        fault = _fault(placeholder, item_schema)
        if fault is not None:
            message = f"'{{{{{placeholder.text[:80]}}}}}' {fault}"
            return refused_value(parameter(root, field.path), message)
    return None


def _fault(placeholder: Placeholder, item_schema: dict[str, Any]) -> str | None:
    key = str(placeholder.steps[0]) if placeholder.steps else None
    if key is None:
        return None
    if placeholder.namespace == "sample":
        near = [] if key in _KEYS else get_close_matches(key[:80], _KEYS, n=1, cutoff=0.8)
        return f"names no part of a sample: did you mean 'sample.{near[0]}'?" if near else None
    properties = item_schema.get("properties") or {}
    if item_schema.get("additionalProperties") is not False or key in properties:
        return None
    if item_schema.get("patternProperties"):
        return None
    shown = ", ".join(f"'{name[:64]}'" for name in list(properties)[:20])
    return f"is in no item: 'item_schema' has {shown or 'no properties'} and nothing else"
