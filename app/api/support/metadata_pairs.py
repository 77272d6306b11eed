"""Reads the pairs of metadata that a list is filtered by."""

from fastapi import Request

_START = "metadata["


def metadata_pairs(request: Request) -> dict[str, str] | None:
    """Returns the pairs of `metadata[key]=value`; `None` without any."""
    pairs = {
        name[len(_START) : -1]: value
        for name, value in request.query_params.multi_items()
        if name.startswith(_START) and name.endswith("]")
    }
    return pairs or None
