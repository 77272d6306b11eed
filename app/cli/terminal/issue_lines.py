"""Lines for the issues of a call: one for each sentence, however often it was found.

Must not know who checked the call.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from app.cli.terminal.printable import printable

_SHOWN_LOCATIONS: Final = 3


class Issue(Protocol):
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def param(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def pointer(self) -> str | None: ...


def issue_lines(severity: str, issues: Iterable[Issue]) -> Iterator[str]:
    """Yields a line for each different sentence, in the order of the first issue of each, with the
    number of issues and their first places.
    """
    groups: dict[tuple[str, str | None, str], list[Issue]] = {}
    for issue in issues:
        # Rows share the parameter that names their file; elsewhere the parameter is the place.
        file = None if issue.line is None else issue.param
        groups.setdefault((issue.code, file, _sentence(issue)), []).append(issue)
    for alike in groups.values():
        yield printable(f"{severity:7}  {_merged(alike)}")


def _merged(alike: list[Issue]) -> str:
    first = alike[0]
    where = f" [{first.param}]" if first.param else ""
    beginning = f"{first.code}{where}: "
    if len(alike) == 1:
        return beginning + first.message
    locations = list(dict.fromkeys(filter(None, map(_location, alike))))
    shown = ", ".join(locations[:_SHOWN_LOCATIONS])
    more = ", …" if len(locations) > _SHOWN_LOCATIONS else ""
    text = _without_line(first) if first.line is not None else first.message
    at = f": {shown}{more}" if locations else ""
    return f"{beginning}{text} ({len(alike)} times{at})"


def _location(issue: Issue) -> str | None:
    if issue.line is None:
        return issue.param
    return f"line {issue.line}" + (f" {issue.pointer}" if issue.pointer else "")


def _sentence(issue: Issue) -> str:
    """Returns the message without its location, which is different in each issue."""
    if issue.line is not None:
        return _without_line(issue)
    return issue.message.replace(issue.param, "") if issue.param else issue.message


def _without_line(issue: Issue) -> str:
    location = f"Line {issue.line}" + (f", {issue.pointer}" if issue.pointer else "")
    return issue.message.removeprefix(f"{location}: ")
