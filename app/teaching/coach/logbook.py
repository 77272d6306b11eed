"""Writes the entries of the logbook: what was done, the numbers, and why, in plain words. Pure."""

from collections.abc import Sequence
from typing import assert_never

from app.teaching.coach.evidence import Evidence, SkillEvidence
from app.teaching.coach.sessions import (
    CoachGain,
    CoachPrompt,
    CoachSession,
    LogbookEntry,
    SessionProgress,
)
from app.teaching.coach.statistics import Measurement
from app.teaching.coach.weaknesses import CoachWeakness, SliceKind
from app.teaching.students.students import SkillStatus

_SHOWN = 5
"""Weaknesses that an entry names; the session has all of them."""
_VERDICTS = {
    SkillStatus.PASSED: "let the skill pass",
    SkillStatus.HELD: "holds the skill",
    SkillStatus.RUNNING: "has not decided",
}


def started_entry(session: CoachSession, *, has_regression_sets: bool) -> LogbookEntry:
    text = (
        f"I begin to coach '{session.student}': first I measure it, with "
        f"{session.options.samples} attempts at each held-out row."
    )
    if not has_regression_sets:
        text += (
            " The student has no regression eval, so the gate will hold every skill: add one if a "
            "skill is to become current."
        )
    return LogbookEntry("started", text)


def measured_entry(progress: SessionProgress, measurement: Measurement) -> LogbookEntry:
    rows = len(measurement.row_means)
    text = f"The mean score is {_number(progress.mean)} over {rows} held-out rows."
    if measurement.lost:
        text += f" {measurement.lost} attempts were lost to failures and are left out."
    named = [_weakness(each) for each in progress.weaknesses[:_SHOWN]]
    if named:
        text += " Weak at: " + "; ".join(named) + "."
        text += " The intervals allow for all slices and kinds of attempts that I compared."
    else:
        text += " I found no weakness that the numbers show clearly."
    data = {"mean": progress.mean, "rows": rows, "lost": measurement.lost}
    return LogbookEntry("measured", text, data)


def prompted_entry(number: int, tried: CoachPrompt) -> LogbookEntry:
    data = {"prompt": number, "mean": tried.mean, "gain": tried.gain, "interval": tried.interval}
    if tried.gain is None:
        return LogbookEntry("prompted", f"System prompt {number} could not be scored.", data)
    text = (
        f"With system prompt {number} the mean score is {_number(tried.mean)}: "
        f"{tried.gain:+.3g}{_interval(tried.interval, looks=number)}."
    )
    clear = tried.interval is not None and tried.interval[0] > 0
    if not tried.enough:
        text += " That helps, but is not enough." if clear else " That is no clear help."
    return LogbookEntry("prompted", text, data)


def choice_entry(chosen: Sequence[CoachGain], progress: SessionProgress) -> LogbookEntry:
    parts = [
        f"{_rows(each.kind, each.name)} (mean {_number(each.mean)}, attempts of different score in "
        f"{each.spread} of {each.rows} rows, expected gain {each.gain:.3g})"
        for each in chosen
    ]
    text = (
        f"Round {progress.round}: I practise {', '.join(parts)}, because most is to be gained "
        "there. Up to a quarter of the rows are others, so that they are not forgotten."
    )
    return LogbookEntry("chose", text, {"gains": {each.key: each.gain for each in chosen}})


def trained_entry(progress: SessionProgress, evidence: Evidence) -> LogbookEntry:
    data = {"job": progress.job_id, "mean": None if evidence.fresh is None else evidence.fresh.mean}
    if evidence.gain is None:
        text = f"Round {progress.round}: the job has no report that compares scores."
        return LogbookEntry("trained", text, data)
    verdict = "I propose it to the gate." if evidence.gain.mean > 0 else "I do not propose it."
    text = f"Round {progress.round}: the trained model scores {evidence.gain.words}. {verdict}"
    if evidence.gap:
        text = f"Round {progress.round}: the trained model scores {evidence.gain.words}."
    return LogbookEntry("trained", text, data | {"gain": evidence.gain.mean})


def learned_nothing(progress: SessionProgress, error: str | None) -> LogbookEntry:
    text = f"Round {progress.round}: the job could learn nothing. {error or ''}".strip()
    return LogbookEntry("trained", text, {"job": progress.job_id})


def gated_entry(skill: SkillEvidence) -> LogbookEntry:
    text = f"The gate {_VERDICTS[skill.status]}. {skill.reason or ''}".strip()
    return LogbookEntry("gated", text, {"skill": skill.id, "status": skill.status.value})


def promoted_entry(progress: SessionProgress) -> LogbookEntry:
    text = (
        f"The skill answers for the student now. The mean score is {_number(progress.mean)}, "
        f"{_number(progress.first_mean)} at the start."
    )
    still = [_weakness(each) for each in progress.weaknesses[:_SHOWN]]
    if still:
        text += " Still weak at: " + "; ".join(still) + "."
    return LogbookEntry(
        "promoted", text, {"mean": progress.mean, "first_mean": progress.first_mean}
    )


def question_entry(session: CoachSession, skill: SkillEvidence) -> LogbookEntry:
    return LogbookEntry(
        "paused",
        f"I wait for you: promote skill {skill.id} of '{session.student}' if it should answer, and "
        "resume the session; resumed without the promotion, it ends.",
        {"skill": skill.id},
    )


def target_reached(session: CoachSession) -> LogbookEntry:
    mean, target = session.progress.mean, session.options.target
    return _ended(f"The mean score {_number(mean)} reaches the target of {_number(target)}.")


def nothing_to_gain(session: CoachSession) -> LogbookEntry:
    least = session.options.min_gain
    best = max((each.gain for each in session.progress.gains), default=0.0)
    return _ended(
        f"There is nothing to gain, so I train nothing: the largest expected gain is {best:.3g}, "
        f"and less than {least:.3g} is not worth a job. Either the rows are mastered, or all "
        "attempts at a row score alike, and practice learns from differences alone."
    )


def prompt_enough(tried: CoachPrompt) -> LogbookEntry:
    return _ended(
        f"Prompting is enough: with this system prompt the mean score is {_number(tried.mean)}, so "
        f"I train nothing. Use it: {tried.prompt}"
    )


def mastered_entry(session: CoachSession) -> LogbookEntry:
    return _ended(
        f"Nothing more is to be gained: the mean score is {_number(session.progress.mean)}, "
        f"{_number(session.progress.first_mean)} at the start, and no slice of the rows promises "
        f"{session.options.min_gain:.3g} more."
    )


def plateau(session: CoachSession) -> LogbookEntry:
    return _ended(
        f"{session.progress.flat_rounds} rounds in succession brought no clear gain "
        f"of {session.options.min_gain:.3g} together: practice does not help any more."
    )


def budget(session: CoachSession, name: str) -> LogbookEntry:
    used = getattr(session.progress.spent, name)
    limit = getattr(session.options.budget, name)
    return _ended(f"The budget is used up: {used:,.0f} of {limit:,.0f} {name}.")


def capped_entry(session: CoachSession) -> LogbookEntry:
    text = f"The job of round {session.progress.round} reached what is left of the budget."
    return _ended(f"{text} It is cancelled, and nothing of it is proposed.")


def reward_hack(evidence: Evidence) -> LogbookEntry:
    return _ended(
        "I stop: the score rises on the rows that are practised and not on held-out rows, so the "
        "model exploits the grader or memorises rows. Nothing is proposed. Look at rollouts with a "
        f"high score, and make the grader stricter. {evidence.error or ''}".strip()
    )


def regression(skill: SkillEvidence) -> LogbookEntry:
    return _ended(f"I stop: skill {skill.id} has lost something that the student could do.")


def held_entry(session: CoachSession) -> LogbookEntry:
    return _ended(
        f"I stop: '{session.student}' has no regression eval, so the gate holds every skill. Add "
        f"one (POST /v1/students/{session.student}), and begin again."
    )


def not_promoted(skill: SkillEvidence) -> LogbookEntry:
    return _ended(f"The session was resumed, but skill {skill.id} is not current: I stop.")


def nothing_scored(evidence: Evidence) -> LogbookEntry:
    lost = 0 if evidence.fresh is None else evidence.fresh.lost
    return _ended(f"No attempt was scored, {lost} were lost: repair the tools or the grader.")


def child_failed(error: str | None) -> LogbookEntry:
    return _ended(f"A job of the session failed: {error or 'it names no reason'}")


def child_cancelled() -> LogbookEntry:
    return _ended("A job of the session was cancelled by somebody else, so the session is, too.")


def skill_gone() -> LogbookEntry:
    return _ended("The skill at the gate does not exist any more.")


def refused_entry(message: str) -> LogbookEntry:
    return _ended(f"The service refused what I wanted to do: {message}")


def cancelled_entry() -> LogbookEntry:
    return _ended("The session was cancelled, and with it what it was waiting for.")


def paused_entry() -> LogbookEntry:
    return LogbookEntry("paused", "The session was paused; a job that runs continues to its end.")


def resumed_entry() -> LogbookEntry:
    return LogbookEntry("started", "The session was resumed.")


def _ended(text: str) -> LogbookEntry:
    return LogbookEntry("ended", text)


def _weakness(each: CoachWeakness) -> str:
    low, high = each.interval
    span = f"{each.share:.0%} (interval {low:.0%} to {high:.0%})"
    match each.kind:
        case "tag" | "cluster" | "all" as kind:
            where = _rows(kind, each.name)
            return f"{where}, where {span} of the score is missing in {each.rows} rows"
        case "component":
            return f"'{each.name}' of the grader, of which {span} is missing"
        case "stop_reason":
            return f"attempts that end by '{each.name}', {span} of all"
        case "failing_tool":
            return f"attempts in which tool '{each.name}' failed, {span} of all"
        case _:
            assert_never(each.kind)


def _rows(kind: SliceKind, name: str) -> str:
    return name if kind == "all" else f"{kind} '{name}'"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _interval(interval: Sequence[float] | None, *, looks: int) -> str:
    if interval is None:
        return " (too few rows for an interval)"
    ends = f"{interval[0]:+.3g} to {interval[1]:+.3g}"
    if looks == 1:
        return f", 95 % interval {ends}"
    return f", interval {ends}, which allows for {looks} prompts"
