"""Distinguishes a gain from chance where a session looks several times: prompts and rounds. Pure.

Look k has the error probability 0.05/(k (k + 1)), which is at most 0.05 for any number of looks.
"""

from app.domain.coach.evidence import Evidence
from app.domain.coach.practice import expected_gains, practice_slices
from app.domain.coach.samples import Measurement
from app.domain.coach.sessions import CoachSession, TriedPrompt
from app.domain.jobs.curves.gains import Gain, paired_gain
from app.domain.jobs.curves.intervals import range_of_scores


def tried_prompt(session: CoachSession, evidence: Evidence) -> TriedPrompt:
    """Returns the comparison of a prompt with the rows as they are. It is enough if it is clearly
    better, and reaches the target or leaves nothing to gain. Its interval allows for the prompts
    before it, since the best of several is better by chance.
    """
    progress = session.progress
    prompt = session.options.prompts[len(progress.tried)]
    fresh, before = evidence.fresh, evidence.now
    if fresh is None or before is None or fresh.mean is None:
        return TriedPrompt(prompt, None, None, None)
    looks = len(progress.tried) + 1
    gain = _gain(before, fresh, looks=looks)
    if gain is None:
        return TriedPrompt(prompt, fresh.mean, None, None)
    left = expected_gains(fresh, evidence.slices, unhelped={})
    better = gain.is_clear and gain.mean > 0
    mastered = not practice_slices(left, least=session.options.min_gain)
    enough = better and (mastered or reaches_target(session, fresh.mean))
    return TriedPrompt(prompt, fresh.mean, gain.mean, gain.interval, enough)


def has_helped(session: CoachSession, evidence: Evidence) -> bool:
    """Returns whether the rounds since the last clear gain brought one together. The interval
    allows for the rounds before: one of many looks shows a gain by chance.
    """
    if evidence.since is None or evidence.fresh is None:
        return False
    gain = _gain(evidence.since, evidence.fresh, looks=max(1, session.progress.round))
    return gain is not None and gain.is_clear and gain.mean >= session.options.min_gain


def _gain(before: Measurement, after: Measurement, *, looks: int) -> Gain | None:
    known = before.ranges.reward
    sides = before.row_means, after.row_means
    bounds = range_of_scores(
        *(side.values() for side in sides),
        known=None if known is None else (known.floor, known.ceiling),
    )
    return paired_gain(*sides, looks=looks, bounds=bounds)


def reaches_target(session: CoachSession, mean: float | None) -> bool:
    """Returns whether a mean score is enough."""
    target = session.options.target
    return target is not None and mean is not None and mean >= target
