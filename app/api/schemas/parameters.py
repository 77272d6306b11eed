"""Errors of wrong parameters: the dotted path of the refused value, and its message."""

from pydantic import ValidationError

from app.domain.documents.pointers import parameter
from app.domain.errors import InvalidRequest
from app.domain.graders.single import NOT_AVAILABLE

_UNION_MEMBERS = ("constrained-", "literal[", "function-", "[key]")


def first_fault(root: str, error: ValidationError) -> InvalidRequest:
    """Returns the first fault of the part of the body at path `root`."""
    fault = error.errors(include_url=False, include_context=False)[0]
    param = dotted(root, fault["loc"])
    if fault["type"] == "missing":
        return missing(param)
    code = fault["type"] if fault["type"] == NOT_AVAILABLE else "invalid_value"
    return InvalidRequest(f"Invalid value for '{param}': {fault['msg']}.", param=param, code=code)


def missing(param: str) -> InvalidRequest:
    return InvalidRequest(
        f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter"
    )


def dotted(root: str, location: tuple[int | str, ...]) -> str:
    """Returns `root.tools[0].server_url` for `("tools", 0, "server_url")`.

    pydantic appends the name of the tried member to the location of a union, and a mark to that of
    an invalid key; neither is a key of the body, so both are left out. Very long keys are cut.
    """
    if len(location) > 1 and str(location[-1]).startswith(_UNION_MEMBERS):
        location = location[:-1]
    return parameter(root, location)
