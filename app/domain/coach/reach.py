"""Refuses ends of a session that no score of its grader reaches, or that each one does. Pure."""

from app.domain.coach.sessions import CoachOptions
from app.domain.errors import refused_value
from app.domain.graders.grader_model import GraderModel


def check_reach(options: CoachOptions, grader: GraderModel) -> None:
    """Raises `InvalidRequest` for a target beyond the scores of the grader or at their lowest, and
    for a smallest gain beyond their range, as far as its definition limits them.
    """
    low, high = grader.lowest, grader.highest
    target = options.target
    if target is not None and high is not None and target > high:
        raise refused_value("target", f"the highest score of the grader is {high:g}")
    if target is not None and low is not None and target <= low:
        raise refused_value("target", f"every student reaches it: the lowest score is {low:g}")
    if low is not None and high is not None and options.min_gain > high - low:
        reason = f"the scores of the grader are from {low:g} to {high:g}, so no gain is as large"
        raise refused_value("min_gain", reason)
