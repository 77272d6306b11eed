"""The highest score of a grader, where its definition says what that is. Pure."""

from typing import assert_never

from app.domain.graders.graders import (
    EndpointGrader,
    MultiGrader,
    ScoreModelGrader,
    SingleGrader,
    StringCheckGrader,
    TextSimilarityGrader,
)


def highest_score(grader: SingleGrader | MultiGrader) -> float | None:
    """Returns `None` for an endpoint, which may answer with any number, and for a formula."""
    match grader:
        case StringCheckGrader() | TextSimilarityGrader():
            return 1.0
        case ScoreModelGrader():
            return grader.range[1]
        case EndpointGrader() | MultiGrader():
            return None
        case _:
            assert_never(grader)
