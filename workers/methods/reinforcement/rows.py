"""The rows of a reinforcement job's file, which stay on disk, and their order in the steps."""

import asyncio
import math
import os
import random
import weakref
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, BinaryIO, Final, overload

from typing_extensions import override

from app.files.datasets import DatasetRow, Prompts, each_row, parse_row
from app.files.division import difficulty_of, tags_of
from app.files.rows import MAX_ROW_BYTES, DatasetError
from app.jobs.learning import AnyOrdering, EasyToHardOrdering, FocusOrdering, UniformOrdering
from app.jobs.preflight import NO_NEEDS, RowFaults, RowNeeds, row_needs
from app.jobs.reinforcement import ReinforcementMethod, ResolvedHyperparameters
from app.kit.errors import RunFailed
from app.rollouts.metrics import TIE
from app.rollouts.rollouts import PlayedRow
from app.rollouts.trajectory import ScoredRollout
from app.tools.mcp_listings import functions_of
from workers.runs.context import RunContext
from workers.runs.opening import JobFile, rows_of_step

_MOST_SLICES: Final = 20
_FEWEST_ROWS: Final = 5
"""Rows that a slice has at least: a tag of its own for each row is none."""


class RowFile(Sequence[DatasetRow]):
    """The rows of a checked file, parsed on access; it stays open, even if it is deleted."""

    def __init__(
        self,
        path: Path,
        *,
        job_tools: AbstractSet[str] | None,
        max_rows: int,
        needs: RowNeeds = NO_NEEDS,
        shared_tools: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._job_tools = job_tools
        self._shared_tools = shared_tools
        self.unmet: Final = RowFaults(needs, with_references=False)
        self.prompts: Final = Prompts()
        self._tags = dict[int, list[str]]()
        self._positions: list[tuple[int, int, int]] = []
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)
        for row in each_row(self._lines(self._file), job_tools, max_rows):
            self.unmet.see(row.item, self._current[2])
            self.prompts.see(row.messages, self._current[2])
            if tags := tags_of(row.item):
                self._tags[row.index] = tags
            self._positions.append(self._current)

    @property
    def slices(self) -> dict[int, set[str]]:
        """The common tags of each row, by its number."""
        counts = Counter(tag for tags in self._tags.values() for tag in tags)
        common = {tag for tag, count in counts.most_common(_MOST_SLICES) if count >= _FEWEST_ROWS}
        return {row: found for row, tags in self._tags.items() if (found := common & set(tags))}

    def _lines(self, file: BinaryIO) -> Iterator[bytes]:
        number = offset = 0
        # A row that is too long is refused by its first piece; the rest is never read.
        while line := file.readline(MAX_ROW_BYTES + 2):
            number += 1
            self._current = (offset, len(line), number)
            offset += len(line)
            yield line

    @override
    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> DatasetRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[DatasetRow]: ...
    @override
    def __getitem__(self, index: int | slice) -> DatasetRow | list[DatasetRow]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        offset, length, number = self._positions[row]
        line = os.pread(self._file.fileno(), length, offset)
        parsed = parse_row(line, number, index=row, job_tools=self._job_tools)
        return replace(parsed, tools=[*parsed.tools, *self._shared_tools])


async def load_rows(file: JobFile, method: ReinforcementMethod) -> RowFile:
    try:
        rows = await asyncio.to_thread(
            RowFile,
            file.path,
            job_tools=method.job_tools,
            max_rows=file.max_rows,
            needs=row_needs(method, "method.reinforcement"),
            shared_tools=functions_of(server.listing for server in method.mcp_servers),
        )
    except DatasetError as error:
        raise file.invalid(error) from error
    file.check_count(len(rows))
    for fault in rows.unmet.found(file.label):
        raise RunFailed(fault.message, code=fault.code, param=fault.param)
    return rows


@dataclass(frozen=True, slots=True)
class Plan:
    hyperparameters: ResolvedHyperparameters
    train_rows: int
    slices: Mapping[int, AbstractSet[str]] = field(default_factory=dict)
    """The tags of training rows whose rewards have curves."""

    @property
    def total_steps(self) -> int:
        return self.hyperparameters.total_steps

    def groups_before(self, step: int) -> int:
        epochs, steps = divmod(step - 1, -(-self.train_rows // self.hyperparameters.batch_size))
        return epochs * self.train_rows + steps * self.hyperparameters.batch_size

    def evaluates_after(self, step: int) -> bool:
        return step == self.total_steps or step % self.hyperparameters.eval_interval == 0


_UNKNOWN: Final = 0.5
"""Pass rate of a row that nothing is known of."""


@dataclass(frozen=True, slots=True)
class LastRate:
    step: int
    pass_rate: float | None
    """`None` while all of its rollouts were lost to failures."""


Known = Mapping[int, LastRate]


class RowPassRates:
    def __init__(self, pass_reward: float | None, priors: Mapping[int, float]) -> None:
        self._pass_reward = pass_reward
        self._priors = {row: LastRate(0, rate) for row, rate in priors.items()}
        self._by_step: dict[int, dict[int, float | None]] = {}
        self._committed = 0
        self._last: tuple[int, dict[int, LastRate]] = (0, dict(self._priors))

    def as_of(self, step: int) -> Known:
        """Returns what is known after a committed step; 0 is before the first one."""
        if step > self._committed:
            raise RuntimeError(f"step {step} is not committed, and its pass_rates are not known")
        at, known = self._last
        if step < at:
            at, known = 0, dict(self._priors)
        for later in range(at + 1, step + 1):
            for row, rate in self._by_step.get(later, {}).items():
                before = known[row].pass_rate if row in known else None
                known[row] = LastRate(later, before if rate is None else rate)
        self._last = (step, known)
        return known

    def add(self, step: int, played: Iterable[PlayedRow]) -> None:
        """A row whose rollouts were all lost was played, and keeps the rate that it had."""
        rewards = defaultdict[int, list[float]](list)
        for each in played:
            rewards[each.prompt_index] += [] if each.reward is None else [each.reward]
        self._committed = max(self._committed, step)
        self._by_step[step] = {row: self._rate(of_row) for row, of_row in rewards.items()}

    def _rate(self, rewards: list[float]) -> float | None:
        if not rewards:
            return None
        if self._pass_reward is None:
            return fmean(rewards)
        return sum(reward >= self._pass_reward for reward in rewards) / len(rewards)


@dataclass(frozen=True, slots=True)
class StepSizes:
    """The numbers of rows of the steps, which no ordering changes."""

    row_count: int
    batch_size: int

    @property
    def steps_per_epoch(self) -> int:
        return -(-self.row_count // self.batch_size)

    def size(self, step: int) -> int:
        position = (step - 1) % self.steps_per_epoch
        return min(self.batch_size, self.row_count - position * self.batch_size)

    def first_of_epoch(self, step: int) -> int:
        return step - (step - 1) % self.steps_per_epoch

    def until(self, step: int) -> int:
        epochs, steps = divmod(step, self.steps_per_epoch)
        return epochs * self.row_count + steps * self.batch_size


@dataclass(frozen=True, slots=True)
class RowOrder:
    ordering: AnyOrdering
    sizes: StepSizes
    seed: int
    pass_rates: RowPassRates
    lag: int = 0
    """Number of steps that are sampled before the one before them is committed."""

    def rows(self, step: int) -> list[int]:
        if isinstance(self.ordering, EasyToHardOrdering):
            return self._easy_to_hard(step)
        if isinstance(self.ordering, FocusOrdering):
            return self._focus(self.ordering, step)
        count, size = self.sizes.row_count, self.sizes.batch_size
        return rows_of_step(step, seed=self.seed, row_count=count, batch_size=size)

    def _easy_to_hard(self, step: int) -> list[int]:
        """The order of a pass is decided at its beginning, so that it has each row once."""
        first = self.sizes.first_of_epoch(step)
        known = self._known(first)
        shuffled = self._shuffled(f"easy/{self.seed}/{first}")
        in_order = sorted(shuffled, key=lambda row: -_rate(known, row))
        begin = (step - first) * self.sizes.batch_size
        return in_order[begin : begin + self.sizes.batch_size]

    def _focus(self, ordering: FocusOrdering, step: int) -> list[int]:
        """Takes rows within the limits, and for the rest of the step others, least recently played
        first in both. Where either are too few, the other ones fill the step. Rows of the `lag`
        steps before this one still look as if they waited longest, so steps draw from `lag` + 1
        parts of the rows in turn, and from the part used longest ago where a step needs more.
        """
        known, size = self._known(step), self.sizes.size(step)
        shuffled = self._shuffled(f"focus/{self.seed}/{step}")
        turns = self._turns(step)
        oldest = sorted(
            shuffled, key=lambda row: (turns[row], known[row].step if row in known else -1)
        )
        inside, outside = list[int](), list[int]()
        for row in oldest:
            rate = known[row].pass_rate if row in known else None
            is_inside = rate is not None and ordering.low <= rate <= ordering.high
            (inside if is_inside else outside).append(row)
        measured = min(len(outside), self._measured(ordering.measured_share, step))
        practised = inside[: size - measured]
        return practised + outside[: size - len(practised)]

    def _turns(self, step: int) -> Mapping[int, int]:
        """Returns for each row in how many steps it is the turn of its part; 0 is this step."""
        parts = self.lag + 1
        order = self._shuffled(f"focus/{self.seed}")
        return {row: (position - step) % parts for position, row in enumerate(order)}

    def _measured(self, share: float, step: int) -> int:
        """The rest of rounding is carried to the next step: small steps have the share together."""
        until, before = (math.floor(share * self.sizes.until(at) + TIE) for at in (step, step - 1))
        return until - before

    def _known(self, step: int) -> Known:
        return self.pass_rates.as_of(max(0, step - 1 - self.lag))

    def _shuffled(self, name: str) -> Sequence[int]:
        order = list(range(self.sizes.row_count))
        random.Random(name).shuffle(order)
        return order


def _rate(known: Known, row: int) -> float:
    rate = known[row].pass_rate if row in known else None
    return _UNKNOWN if rate is None else rate


def played_rows(rollouts: Iterable[ScoredRollout]) -> list[PlayedRow]:
    return [PlayedRow(one.key.prompt_index, one.reward) for one in rollouts]


async def pass_rates_of(
    context: RunContext,
    ordering: AnyOrdering,
    *,
    items: Callable[[], Iterable[Mapping[str, Any]]],
    committed: int,
) -> RowPassRates:
    """`items`: the rows of the training file, whose difficulties count before they are played."""
    if isinstance(ordering, UniformOrdering):
        return RowPassRates(None, {})
    priors = await asyncio.to_thread(lambda: dict(_priors(items())))
    found = RowPassRates(ordering.pass_reward, priors)
    if committed:
        async with context.unit() as unit:
            trained = await unit.rollouts.trained_rows(context.job.id, up_to=committed)
        for step in range(1, committed + 1):
            found.add(step, trained.get(step, ()))
    return found


def _priors(items: Iterable[Mapping[str, Any]]) -> Iterable[tuple[int, float]]:
    for row, item in enumerate(items):
        difficulty = difficulty_of(item)
        if difficulty is not None:
            yield row, 1.0 - difficulty
