"""Checks tools, graders and components in the names of a job's curves. Pure.

Owns the refusal of a curve whose tool, child of the grader or component the job does not have,
because it would always be empty. The components of a grader are known once a rollout was graded,
the tools of an MCP server once it was listed, those of an HTTP environment once an episode offered
them; before that, no name is refused.
"""

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final, assert_never

from app.domain.environments.http import HTTP
from app.domain.errors import InvalidRequest
from app.domain.methods.stored import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.domain.rollouts.metric_meanings import JobPart, part_of
from app.domain.rollouts.trajectory import UNKNOWN_TOOL, UNPARSABLE_CALL

_NO_TOOL: Final = frozenset({UNKNOWN_TOOL, UNPARSABLE_CALL})
_COMPARED: Final = 80
_SHOWN: Final = 10
_SIMILARITY: Final = 0.5
_WORDS: Final[dict[JobPart, tuple[str, str]]] = {
    "<tool>": ("tool", "tools"),
    "<child>": ("grader", "children of a 'multi' grader"),
    "<name>": ("component", "components"),
}
_BEFORE: Final[dict[JobPart, str]] = {
    "<tool>": "tool/",
    "<child>": "grader/",
    "<name>": "reward/component/",
}
"""Prefixes of curve names, up to the part."""


def check_parts(sent: Iterable[str], method: StoredMethod, existing: Collection[str]) -> None:
    """Raises `InvalidRequest` for the first name with a part that the job does not have.
    `existing` are the names of the job's curves so far.
    """
    known: dict[JobPart, set[str]] = {kind: set() for kind in _WORDS}
    for kind, name in (*_of_method(method), *filter(None, map(part_of, existing))):
        known[kind].add(name)
    for curve in sent:
        part = part_of(curve)
        if part is None or curve in existing or part[1] in known[part[0]] | _NO_TOOL:
            continue
        if part[0] == "<name>" and not known["<name>"]:
            continue
        if part[0] == "<tool>" and _has_unlisted_tools(method):
            continue
        raise _refusal(curve, *part, sorted(known[part[0]] - _NO_TOOL))


def _of_method(method: StoredMethod) -> Iterator[tuple[JobPart, str]]:
    """Yields the tools and the grader's children that the job was created with."""
    match method:
        case StoredReinforcementMethod(options=options):
            listings = [server.get("listing") for server in options.get("mcp_servers") or ()]
            listed = [tool for listing in listings if listing for tool in listing["tools"]]
            for tool in (*(options.get("tools") or ()), *listed):
                yield "<tool>", str(tool.get("name"))
            children: dict[str, Any] = options["grader"].get("graders") or {}
            for child in children:
                yield "<child>", child
        case StoredSupervisedMethod() | StoredDpoMethod():
            return
        case _:
            assert_never(method)


def _has_unlisted_tools(method: StoredMethod) -> bool:
    """Returns whether the job may call tools whose names appear only in its curves."""
    match method:
        case StoredReinforcementMethod(options=options):
            servers = options.get("mcp_servers") or ()
            in_environment = (options.get("environment") or {}).get("type") == HTTP
            return in_environment or not all(server.get("listing") for server in servers)
        case StoredSupervisedMethod() | StoredDpoMethod():
            return False
        case _:
            assert_never(method)


def _refusal(curve: str, kind: JobPart, name: str, known: list[str]) -> InvalidRequest:
    one, several = _WORDS[kind]
    near = get_close_matches(
        name[:_COMPARED], [each[:_COMPARED] for each in known], n=1, cutoff=_SIMILARITY
    )
    before = _BEFORE[kind]
    after = curve[len(before) + len(name) :]
    hint = f" Did you mean '{before}{near[0]}{after}'?" if near else ""
    listed = ", ".join(f"'{each}'" for each in known[:_SHOWN])
    more = ", …" if len(known) > _SHOWN else ""
    has = f"has the {several} {listed}{more}" if known else f"has no {several}"
    return InvalidRequest(
        f"Invalid value for 'names': no curve is called '{curve[:_COMPARED]}', because the job has "
        f"no {one} '{name[:_COMPARED]}'.{hint} The job {has}.",
        param="names",
        code="invalid_value",
    )
