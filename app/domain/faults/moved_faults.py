"""Moves the error of a part to its place in a larger call."""

from app.domain.errors import InvalidRequest


def moved_fault(fault: InvalidRequest, root: str, new: str) -> InvalidRequest:
    """Returns the error of a parameter below `root` as one below `new`, in its message too."""
    param = fault.param
    if param is not None and (param == root or param.startswith((f"{root}.", f"{root}["))):
        param = new + param.removeprefix(root)
    return InvalidRequest(
        fault.message.replace(f"'{root}", f"'{new}"), param=param, code=fault.code
    )
