"""The actions of a session's step: a closed union. Pure data."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from app.jobs.jobs import Caps
from app.teaching.coach import logbook
from app.teaching.coach.evidence import (
    Evidence,
    SkillEvidence,
    has_helped,
    reaches_target,
    tried_prompt,
)
from app.teaching.coach.sessions import (
    CoachOutcome,
    CoachSession,
    CoachStatus,
    LogbookEntry,
    Phase,
    SessionProgress,
    expected_gains,
    practice_slices,
)
from app.teaching.coach.weaknesses import find_weaknesses
from app.teaching.students.students import SkillStatus


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again later."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Look again at once."""


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    prompt: str | None
    """System prompt that replaces that of each row; `None` leaves the rows as they are."""


@dataclass(frozen=True, slots=True)
class Train:
    keys: tuple[str, ...]
    caps: Caps


@dataclass(frozen=True, slots=True)
class Propose:
    job_id: str


@dataclass(frozen=True, slots=True)
class Promote:
    skill_id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for the user."""


@dataclass(frozen=True, slots=True)
class EndSession:
    status: CoachStatus
    outcome: CoachOutcome | None


Action = Wait | Continue | RunMeasurement | Train | Propose | Promote | Pause | EndSession


@dataclass(frozen=True, slots=True)
class SessionStep:
    action: Action
    progress: SessionProgress
    entries: tuple[LogbookEntry, ...] = ()


def next_step(session: CoachSession, evidence: Evidence) -> SessionStep:
    match evidence.child:
        case "running":
            return SessionStep(Wait(), session.progress)
        case "none":
            return _of_phase(session, evidence)
        case "cancelled":
            ended = logbook.child_cancelled()
            return _end(_settled(session, evidence), None, ended, status=CoachStatus.CANCELLED)
        case "failed" if not evidence.nothing_learned:
            ended = logbook.child_failed(evidence.error)
            return _end(_settled(session, evidence), None, ended, status=CoachStatus.FAILED)
        case "done" | "failed" | "capped":
            return _of_phase(_settled(session, evidence), evidence)
        case _:
            assert_never(evidence.child)


def _settled(session: CoachSession, evidence: Evidence) -> CoachSession:
    spent = session.progress.spent.plus(evidence.usage)
    return replace(session, progress=replace(session.progress, spent=spent, child=None))


def _of_phase(session: CoachSession, evidence: Evidence) -> SessionStep:
    match session.progress.phase:
        case Phase.MEASURING:
            return _measuring(session, evidence)
        case Phase.PROMPTING:
            return _prompting(session, evidence)
        case Phase.CHOOSING:
            return _choosing(session, evidence)
        case Phase.TRAINING:
            return _training(session, evidence)
        case Phase.GATING:
            return _gating(session, evidence)
        case _:
            assert_never(session.progress.phase)


def _measuring(session: CoachSession, evidence: Evidence) -> SessionStep:
    progress = session.progress
    if evidence.child == "none":
        return _within_budget(session, lambda: SessionStep(RunMeasurement(None), progress))
    if evidence.fresh is None or evidence.fresh.mean is None:
        return _end(session, None, logbook.nothing_scored(evidence), status=CoachStatus.FAILED)
    progress = _measured(session, evidence)
    progress = replace(progress, first_mean=progress.mean)
    entries = (logbook.measured_entry(progress, evidence.fresh),)
    session = replace(session, progress=progress)
    if reaches_target(session, progress.mean):
        return _end(session, "target", logbook.target_reached(session), before=entries)
    if not practice_slices(progress.gains, least=session.options.min_gain):
        ended = logbook.nothing_to_gain(session)
        return _end(session, "nothing_to_gain", ended, before=entries)
    phase = Phase.PROMPTING if session.options.prompts else Phase.CHOOSING
    return SessionStep(Continue(), replace(progress, phase=phase), entries)


def _measured(session: CoachSession, evidence: Evidence) -> SessionProgress:
    progress, fresh = session.progress, evidence.fresh
    if fresh is None:
        raise ValueError("there is no measurement")
    return replace(
        progress,
        measured=evidence.fresh_source,
        mean=fresh.mean,
        weaknesses=find_weaknesses(fresh, evidence.slices, ceiling=session.options.target),
        gains=expected_gains(fresh, evidence.slices, unhelped=progress.unhelped),
    )


def _prompting(session: CoachSession, evidence: Evidence) -> SessionStep:
    progress, prompts = session.progress, session.options.prompts
    entries: tuple[LogbookEntry, ...] = ()
    if evidence.child != "none":
        tried = tried_prompt(session, evidence)
        progress = replace(progress, tried=(*progress.tried, tried))
        session = replace(session, progress=progress)
        entries = (logbook.prompted_entry(len(progress.tried), tried),)
        if tried.enough:
            ended = logbook.prompt_enough(tried)
            return _end(session, "prompt_enough", ended, before=entries)
    left = prompts[len(progress.tried) :]
    if not left:
        return SessionStep(Continue(), replace(progress, phase=Phase.CHOOSING), entries)
    return _within_budget(
        session, lambda: SessionStep(RunMeasurement(left[0]), progress, entries), entries
    )


def _choosing(session: CoachSession, evidence: Evidence) -> SessionStep:
    progress, options = session.progress, session.options
    if reaches_target(session, progress.mean):
        return _end(session, "target", logbook.target_reached(session))
    if progress.flat_rounds >= options.patience:
        return _end(session, "plateau", logbook.plateau(session))
    if progress.flat_rounds and evidence.now is not None:
        gains = expected_gains(evidence.now, evidence.slices, unhelped=progress.unhelped)
        progress = replace(progress, gains=gains)
    chosen = practice_slices(progress.gains, least=options.min_gain)
    if not chosen:
        return _end(session, "mastered", logbook.mastered_entry(session))

    def train() -> SessionStep:
        keys = tuple(each.key for each in chosen)
        started = replace(
            progress, phase=Phase.TRAINING, round=progress.round + 1, practised=keys, job_id=None
        )
        return SessionStep(
            Train(keys, session.caps()), started, (logbook.choice_entry(chosen, started),)
        )

    return _within_budget(session, train)


def _training(session: CoachSession, evidence: Evidence) -> SessionStep:
    match evidence.child:
        case "none" | "running" | "cancelled":
            return SessionStep(Wait(), session.progress)
        case "failed":
            return _flat(session, logbook.learned_nothing(session.progress, evidence.error))
        case "capped":
            return _end(session, "budget", logbook.capped_entry(session))
        case "done":
            return _trained(session, evidence)
        case _:
            assert_never(evidence.child)


def _trained(session: CoachSession, evidence: Evidence) -> SessionStep:
    progress = session.progress
    entry = logbook.trained_entry(progress, evidence)
    if evidence.gap:
        return _end(session, "reward_hack", logbook.reward_hack(evidence), before=(entry,))
    if evidence.gain is None or evidence.gain.mean <= 0 or progress.job_id is None:
        return _flat(session, entry)
    proposed = replace(progress, phase=Phase.GATING)
    return SessionStep(Propose(progress.job_id), proposed, (entry,))


def _gating(session: CoachSession, evidence: Evidence) -> SessionStep:
    skill = evidence.skill
    if skill is None:
        return _end(session, None, logbook.skill_gone(), status=CoachStatus.FAILED)
    if skill.is_current:
        return _promoted(session, evidence)
    match skill.status:
        case SkillStatus.RUNNING:
            return SessionStep(Wait(), session.progress)
        case SkillStatus.PASSED:
            return _passed(session, skill)
        case SkillStatus.HELD:
            return _held(session, skill, has_regression_sets=evidence.has_regression_sets)
        case _:
            assert_never(skill.status)


def _passed(session: CoachSession, skill: SkillEvidence) -> SessionStep:
    progress, entry = session.progress, logbook.gated_entry(skill)
    match session.options.promote:
        case "automatic":
            return SessionStep(Promote(skill.id), progress, (entry,))
        case "ask":
            if progress.asked:
                return _end(session, "not_promoted", logbook.not_promoted(skill))
            asked = replace(progress, asked=True)
            return SessionStep(Pause(), asked, (entry, logbook.question_entry(session, skill)))
        case _:
            assert_never(session.options.promote)


def _held(session: CoachSession, skill: SkillEvidence, *, has_regression_sets: bool) -> SessionStep:
    entry = logbook.gated_entry(skill)
    if skill.lost:
        return _end(session, "regression", logbook.regression(skill), before=(entry,))
    if not has_regression_sets:
        return _end(session, "held", logbook.held_entry(session), before=(entry,))
    return _flat(session, entry)


def _promoted(session: CoachSession, evidence: Evidence) -> SessionStep:
    helped = has_helped(session, evidence)
    progress = replace(session.progress, since=session.progress.since or session.progress.measured)
    progress = replace(progress, promoted=progress.promoted + 1)
    progress = _after_round(progress, helped=helped)
    if helped:
        progress = replace(progress, since=evidence.fresh_source)
    session = replace(session, progress=progress)
    if evidence.fresh is not None and evidence.fresh.mean is not None:
        progress = _measured(session, evidence)
    return SessionStep(Continue(), progress, (logbook.promoted_entry(progress),))


def _flat(session: CoachSession, entry: LogbookEntry) -> SessionStep:
    return SessionStep(Continue(), _after_round(session.progress, helped=False), (entry,))


def _after_round(progress: SessionProgress, *, helped: bool) -> SessionProgress:
    unhelped = dict(progress.unhelped)
    if not helped:
        unhelped |= {key: unhelped.get(key, 0) + 1 for key in progress.practised}
    return replace(
        progress,
        phase=Phase.CHOOSING,
        child=None,
        asked=False,
        flat_rounds=0 if helped else progress.flat_rounds + 1,
        unhelped=unhelped,
    )


def _within_budget(
    session: CoachSession, go_on: Callable[[], SessionStep], before: tuple[LogbookEntry, ...] = ()
) -> SessionStep:
    used = session.used_up()
    if used is None:
        return go_on()
    return _end(session, "budget", logbook.budget(session, used), before=before)


def _end(
    session: CoachSession,
    outcome: CoachOutcome | None,
    entry: LogbookEntry,
    *,
    status: CoachStatus = CoachStatus.COMPLETED,
    before: tuple[LogbookEntry, ...] = (),
) -> SessionStep:
    progress = replace(session.progress, child=None)
    return SessionStep(EndSession(status, outcome), progress, (*before, entry))
