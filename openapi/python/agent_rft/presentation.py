"""Shows an object as one line in a terminal and as a small table in a notebook."""

from collections.abc import Mapping
from html import escape
from warnings import warn

from typing_extensions import override

_SHOWN = 2000


def warn_of(reply: object) -> None:
    """Passes on what the service warns of, such as a key that it does not know."""
    found = getattr(reply, "warnings", None)
    for warning in found if isinstance(found, list) else ():
        warn(str(getattr(warning, "message", warning)), UserWarning, stacklevel=3)


class Presentation:
    """Shows the facts that a subclass names."""

    def facts(self) -> Mapping[str, object]:
        """Returns what is worth seeing, in order."""
        raise NotImplementedError

    @override
    def __repr__(self) -> str:
        facts = ", ".join(f"{name}={value!r}" for name, value in self.facts().items())
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        """Returns a table for a notebook. Texts of models and users are escaped."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(str(value)[:_SHOWN])}</td></tr>"
            for name, value in self.facts().items()
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"
