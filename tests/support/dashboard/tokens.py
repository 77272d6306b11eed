"""The tokens of a rollout as rows, for the API and pages to show."""

import json
from collections.abc import Sequence

from tests.support.dashboard.scenes import execute
from tests.support.stack import Database

Token = tuple[str, float | None, float | None]
"""Text, log-prob and ratio."""
TURNS: list[list[Token]] = [
    [("The", -0.0051, 1.0), (" Nile", -2.3026, 1.3), ("", -0.1, None)],
    [("\n", -6.9078, 0.25), ("!", None, 0.9)],
]


def put_tokens(
    database: Database,
    rollout_id: str,
    turns: Sequence[Sequence[Token]] = TURNS,
    *,
    omitted: int = 0,
) -> None:
    """Stores tokens of a rollout that is stored already."""
    lists = [list(zip(*turn, strict=True)) for turn in turns]
    stored = {
        "turns": [
            dict(zip(("texts", "log_probs", "ratios"), parts, strict=True)) for parts in lists
        ],
        "omitted": omitted,
    }
    execute(
        database, "UPDATE rollouts SET tokens = %s WHERE id = %s", (json.dumps(stored), rollout_id)
    )
