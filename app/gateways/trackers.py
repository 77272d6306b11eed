"""The trackers that this installation can write: those whose library is installed."""

from importlib.util import find_spec

from app.domain.jobs.integrations import LIBRARIES, TrackerKind


def is_installed(kind: TrackerKind) -> bool:
    """Returns whether the tracker's library can be imported; it is not imported here."""
    return find_spec(LIBRARIES[kind].module) is not None
