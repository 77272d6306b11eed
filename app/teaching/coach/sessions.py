"""Picks what a student practises next, by expected gain. Pure.

gain(s) = weight × headroom × (spread + 1) / (rows + 2)

The weight is the share of s's rows among all rows; the headroom is what the mean of s lacks to the
highest score that can be reached. The last factor is the share of its rows whose samples have
different rewards (`spread`), since practice learns from those alone; one row of each sort is
added, so that a small slice is not certain. Each round that practised a slice without a gain
halves its expected gain.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean
from typing import Any, Final, Literal

from app.files.rows import MIN_EXAMPLES
from app.jobs.jobs import Caps, Usage
from app.kit.errors import NotFound, WrongState
from app.kit.fields import DescribedFields
from app.rollouts.metrics import TIE
from app.teaching.coach.statistics import Measurement, PracticeRow
from app.teaching.coach.weaknesses import CoachWeakness, Slice, SliceKind, TextSlices, key_of

TOGETHER: Final = 0.5
"""Slices with at least this share of the best slice's gain are practised with it."""
REHEARSAL: Final = 0.25
"""Share of other rows among those that are practised, so that they are not forgotten."""


@dataclass(frozen=True, slots=True)
class CoachGain(DescribedFields):
    """The gain that practice of a slice of the rows is expected to bring."""

    kind: SliceKind
    """`tag`, `cluster` (similar texts) or `all`."""
    name: str
    """The tag, or the words of similar texts."""
    rows: int
    """Held-out rows of the slice."""
    weight: float
    """Their share of all held-out rows."""
    mean: float
    """Their mean score."""
    headroom: float
    """Highest score that can be reached less the mean."""
    spread: int
    """Rows whose attempts have different scores."""
    gain: float
    """Weight × headroom × (spread + 1) / (rows + 2), halved for each round that did not help."""

    @property
    def key(self) -> str:
        return key_of(self.kind, self.name)


def expected_gains(
    measurement: Measurement, slices: Sequence[Slice], *, unhelped: Mapping[str, int]
) -> tuple[CoachGain, ...]:
    """Returns the gains, largest first. `unhelped` counts rounds that practised a slice in vain."""
    rewards, means = measurement.rewards, measurement.row_means
    reachable = measurement.reachable
    found = []
    for each in slices:
        rows = [row for row in each.rows if row in means]
        if not rows:
            continue
        mean = fmean(means[row] for row in rows)
        spread = sum(max(rewards[row]) - min(rewards[row]) > TIE for row in rows)
        weight = len(rows) / len(means)
        headroom = max(0.0, (mean if reachable is None else reachable) - mean)
        gain = weight * headroom * (spread + 1) / (len(rows) + 2)
        gain *= 0.5 ** unhelped.get(each.key, 0)
        found.append(
            CoachGain(each.kind, each.name, len(rows), weight, mean, headroom, spread, gain)
        )
    return tuple(sorted(found, key=lambda each: (-each.gain, each.key)))


def practice_slices(gains: Sequence[CoachGain], *, least: float) -> tuple[CoachGain, ...]:
    best = max((each.gain for each in gains), default=0.0)
    if best < least:
        return ()
    return tuple(each for each in gains if each.gain >= TOGETHER * best)


def practice_rows(
    keys: Iterable[str], *, training: Sequence[PracticeRow], held_out: Sequence[PracticeRow]
) -> list[int]:
    """Returns the indices of the training rows to practise, in the order of their file: those of
    the slices, and other rows for rehearsal; all rows if the slices have too few. The slices by
    text are those of the held-out rows.
    """
    wanted = set(keys)
    chosen = {
        row.index for row in training if any(key_of("tag", tag) in wanted for tag in row.tags)
    }
    for name, rows in TextSlices(held_out).assigned(training).items():
        if key_of("cluster", name) in wanted:
            chosen |= set(rows)
    others = [row.index for row in training if row.index not in chosen]
    if len(chosen) < MIN_EXAMPLES or not others:
        return [row.index for row in training]
    count = min(len(others), round(len(chosen) * REHEARSAL / (1 - REHEARSAL)))
    rehearsed = [others[number * len(others) // count] for number in range(count)]
    return sorted({*chosen, *rehearsed})


MAX_PROMPTS: Final = 8
POLL_S: Final = 2.0
"""Seconds between two looks at the job or skill that a session waits for."""


class CoachStatus(StrEnum):
    """State of a session; the last three are final."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_SESSIONS: Final = (CoachStatus.RUNNING, CoachStatus.PAUSED)
TRANSITIONS: Final[Mapping[CoachStatus, frozenset[CoachStatus]]] = {
    CoachStatus.RUNNING: frozenset(CoachStatus) - {CoachStatus.RUNNING},
    CoachStatus.PAUSED: frozenset({CoachStatus.RUNNING, CoachStatus.CANCELLED}),
    CoachStatus.COMPLETED: frozenset(),
    CoachStatus.FAILED: frozenset(),
    CoachStatus.CANCELLED: frozenset(),
}


class Phase(StrEnum):
    """The activity of a session; in all but `choosing` it waits for a job or a skill."""

    MEASURING = "measuring"
    PROMPTING = "prompting"
    CHOOSING = "choosing"
    TRAINING = "training"
    GATING = "gating"


CoachOutcome = Literal[
    "target",
    "nothing_to_gain",
    "prompt_enough",
    "mastered",
    "plateau",
    "budget",
    "regression",
    "held",
    "reward_hack",
    "not_promoted",
]
Promotion = Literal["automatic", "ask"]
EntryKind = Literal[
    "started", "measured", "prompted", "chose", "trained", "gated", "promoted", "paused", "ended"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    jobs: int | None = 8
    rollouts: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoachOptions:
    promote: Promotion = "automatic"
    prompts: tuple[str, ...] = ()
    samples: int = 4
    target: float | None = None
    """Mean score of the held-out rows that is enough."""
    min_gain: float = 0.02
    """The smallest gain of the mean score, expected or measured, for which a session continues."""
    patience: int = 2
    """Rounds in succession without such a gain after which the session ends."""
    budget: Budget = Budget()
    seed: int | None = None
    """Seed of its jobs; `None` chooses one for each."""
    suffix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    jobs: int = 0
    rollouts: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def plus(self, usage: Usage | None) -> "Spent":
        """Returns the sum with a job that ended; its start has been counted."""
        if usage is None:
            return self
        return Spent(
            jobs=self.jobs,
            rollouts=self.rollouts + usage.rollouts,
            tokens=self.tokens + usage.prompt_tokens + usage.completion_tokens,
            seconds=self.seconds + usage.training_time_s,
        )


@dataclass(frozen=True, slots=True)
class CoachMeasurement(DescribedFields):
    """The rollouts that measured the student."""

    job_id: str
    """Id of their job."""
    split: Literal["valid", "report"]
    """Their part of the job."""
    step: int
    """Step of the job at which they were sampled."""


@dataclass(frozen=True, slots=True)
class CoachChild(DescribedFields):
    """The job or skill that a session waits for."""

    kind: Literal["job", "skill"]
    """`job` for a fine-tuning job, `skill` for a skill at the gate."""
    id: str
    """Id of the job or skill."""


@dataclass(frozen=True, slots=True)
class CoachPrompt(DescribedFields):
    """A system prompt that was tried before training."""

    prompt: str
    """The text of the system prompt."""
    mean: float | None
    """Mean score with the prompt; `null` if nothing was scored."""
    gain: float | None
    """Paired difference to the rows as they are."""
    interval: Sequence[float] | None
    """95 % interval of the difference, which allows for the prompts before; `null` for too few
    rows."""
    enough: bool
    """True if the prompt is clearly better, and reaches the target or leaves nothing to gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionProgress:
    phase: Phase = Phase.MEASURING
    round: int = 0
    child: CoachChild | None = None
    job_id: str | None = None
    """The training job of this round."""
    measured: CoachMeasurement | None = None
    since: CoachMeasurement | None = None
    """The measurement from which the rounds without a gain count; `None`: that of the student."""
    first_mean: float | None = None
    mean: float | None = None
    """Its mean score; `first_mean` is that of the first measurement."""
    weaknesses: tuple[CoachWeakness, ...] = ()
    gains: tuple[CoachGain, ...] = ()
    practised: tuple[str, ...] = ()
    """Keys of the slices that this round practises."""
    unhelped: Mapping[str, int] = field(default_factory=dict)
    """Rounds that practised a slice without a gain, by its key."""
    tried: tuple[CoachPrompt, ...] = ()
    flat_rounds: int = 0
    """Rounds in succession since which the gain is not clear."""
    asked: bool = False
    """The session has paused for the promotion of the skill at the gate."""
    promoted: int = 0
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class LogbookEntry:
    kind: EntryKind
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    """Place in the logbook, from 1; set when it is stored."""
    created_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoachSession:
    id: str
    student: str
    status: CoachStatus = CoachStatus.RUNNING
    options: CoachOptions = CoachOptions()
    training_file: str
    validation_file: str
    method: Mapping[str, Any]
    """The method of its jobs as compiled and resolved, with redacted secrets."""
    metadata: dict[str, str] | None = None
    progress: SessionProgress = SessionProgress()
    outcome: CoachOutcome | None = None
    reason: str | None = None
    """The last entry of an ended or paused session."""
    key_id: str = ""
    created_at: int = 0
    finished_at: int | None = None

    def used_up(self) -> str | None:
        for name in ("jobs", "rollouts", "tokens", "seconds"):
            limit = getattr(self.options.budget, name)
            if limit is not None and getattr(self.progress.spent, name) >= limit:
                return name
        return None

    def caps(self) -> Caps:
        budget, spent = self.options.budget, self.progress.spent
        seconds = None if budget.seconds is None else budget.seconds - spent.seconds
        rollouts = None if budget.rollouts is None else budget.rollouts - spent.rollouts
        return Caps(seconds, rollouts)

    def check_move(self, to: CoachStatus) -> None:
        if to not in TRANSITIONS[self.status]:
            raise WrongState(f"Coach session {self.id} is {self.status.value}.")


def no_session(session_id: str) -> NotFound:
    return NotFound(
        f"Coach session '{session_id}' does not exist.",
        param="session_id",
        code="coach_session_not_found",
    )
