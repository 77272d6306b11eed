"""Blocks of curves as they are stored, and as they follow from the points."""

from collections import defaultdict

import psycopg

from app.jobs.findings import BLOCK_SIZES
from tests.support.stack import Database

Points = dict[tuple[str, str, int], float]
"""Values by name, split and step."""
_STORED = """
    SELECT name, split, size, block, points, total, low_step, low, high_step, high,
        first_step, first, last_step, last FROM job_metric_blocks WHERE job_id = %s
"""


def stored_blocks(database: Database, job_id: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.superuser_url.replace("+psycopg", "")) as connection:
        return sorted(connection.execute(_STORED, (job_id,)).fetchall())


def blocks_of(points: Points) -> list[tuple[object, ...]]:
    """Computes the blocks of points whose values have exact sums."""
    grouped: dict[tuple[str, str, int, int], list[tuple[int, float]]] = defaultdict(list)
    for (name, split, step), value in points.items():
        for size in BLOCK_SIZES:
            grouped[name, split, size, step // size].append((step, value))
    return sorted(
        (
            *key,
            len(own),
            sum(value for _, value in own),
            *min(own, key=lambda one: (one[1], one[0])),
            *min(own, key=lambda one: (-one[1], one[0])),
            *min(own),
            *max(own),
        )
        for key, own in grouped.items()
    )
