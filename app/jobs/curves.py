"""The type of a job's curves for charts and findings."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import Any, Final, TypeVar, assert_never

from app.jobs.methods import (
    StoredDpoMethod,
    StoredMethod,
    StoredReinforcementMethod,
    StoredSupervisedMethod,
)
from app.kit.errors import InvalidRequest
from app.kit.ids import Split
from app.rollouts.metric_meanings import JobPart, part_of
from app.rollouts.metrics import MetricPoint, PackedCurve
from app.rollouts.trajectory import UNKNOWN_TOOL, UNPARSABLE_CALL
from app.tools.environment_options import HTTP

Curve = Mapping[int, float]
Curves = Mapping[tuple[str, Split], Curve]
"""Values by step, for each pair of curve name and split."""


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


WHOLE: Final = 512
"""Points up to which a curve is read whole."""
BLOCK_SIZES: Final = (8, 32, 128, 512, 2048)
"""Steps of a block. Triggers fill these sizes, see `migrations/initial/curve_blocks.py`."""
_MOST_BLOCKS: Final = 256
"""Blocks of an outline, up to which a size is chosen. The largest size has no limit."""

CurveKey = tuple[str, Split]
"""Name and split of a curve."""


@dataclass(frozen=True, slots=True)
class CurveSummary:
    """Count, sum and ends of a whole curve."""

    job_id: str
    name: str
    split: Split
    points: int
    total: float
    """Sum of the values."""
    first: MetricPoint
    last: MetricPoint

    @property
    def key(self) -> CurveKey:
        return self.name, self.split

    @property
    def ends(self) -> list[MetricPoint]:
        """The first and the last point, once if there is one point."""
        return [self.first, self.last] if self.points > 1 else [self.first]

    @property
    def is_long(self) -> bool:
        return self.points > WHOLE


@dataclass(frozen=True, slots=True)
class OutlinedCurves:
    """Curves for charts, each whole or as an outline, packed."""

    packed: Sequence[PackedCurve]
    summaries: Sequence[CurveSummary]

    def read(self) -> dict[CurveKey, dict[int, float]]:
        """Parses the curves. An outline gets the first point of its curve."""
        first = {one.key: one.first for one in self.summaries}
        read: dict[CurveKey, dict[int, float]] = {}
        for one in self.packed:
            start = first[one.name, one.split]
            read[one.name, one.split] = {start.step: start.value, **one.read()}
        return read

    @property
    def every(self) -> dict[str, int]:
        """Steps between two points that outlines of training share, by name of the curve."""
        return {one.name: one.every for one in self.packed if one.split == "train"}


def block_size(summaries: Sequence[CurveSummary]) -> int:
    """Returns the steps of a block in the outlines of a job; 1 if all of its curves are whole."""
    ends = [one.last.step for one in summaries if one.is_long]
    if not ends:
        return 1
    fitting = (size for size in BLOCK_SIZES if max(ends) < size * _MOST_BLOCKS)
    return next(fitting, BLOCK_SIZES[-1])


_Item = TypeVar("_Item")


def thin(items: Sequence[_Item], count: int) -> list[_Item]:
    """Returns at most `count` evenly spaced items in order, including the first and the last; with
    a `count` of 1 only the last.
    """
    if len(items) <= count:
        return list(items)
    if count == 1:
        return [items[-1]]
    last = len(items) - 1
    return [items[round(index * last / (count - 1))] for index in range(count)]


def extremes(values: Sequence[float], count: int) -> list[int]:
    """Returns the indices of at most `count` values, in order, such that no spike is lost: the
    first and the last, and between them the lowest and the highest of stretches of equal length.
    With a `count` of 1 it is only the last.
    """
    last = len(values) - 1
    if len(values) <= count:
        return list(range(len(values)))
    if count == 1:
        return [last]
    stretches = (count - 2) // 2
    between = range(1, last)
    chosen = {0, last}
    for _, indices in groupby(between, lambda index: (index - 1) * stretches // (last - 1)):
        if stretches:
            each = list(indices)
            chosen |= {min(each, key=values.__getitem__), max(each, key=values.__getitem__)}
    return sorted(chosen)
