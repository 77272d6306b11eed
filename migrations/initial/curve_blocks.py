"""Makes the triggers that keep blocks of curves equal to the points.

A block has the lowest, the highest, the first and the last point of a range of steps, with count
and sum. Blocks exist in several sizes, each four times the one before, so that a chart of any
length reads few of them. Each write computes the blocks of its points anew, in the same statement:
the smallest from the points, each larger one from those a size below. Nothing is added to an old
value, so a step that is written again, or out of order, leaves no block wrong.
"""

from alembic import op

SIZES = (8, 32, 128, 512, 2048)
_KEY = "job_id, name, split"
_VALUES = "points, total, low, low_step, high, high_step, first, first_step, last, last_step"
# A sum of doubles that overflows is an error, which would refuse the step: each is limited.
_OF_POINTS = """
    count(*), sum(greatest(least(value, 1e200), -1e200)),
    min(value), (array_agg(step ORDER BY value, step))[1],
    max(value), (array_agg(step ORDER BY value DESC, step))[1],
    (array_agg(value ORDER BY step))[1], min(step),
    (array_agg(value ORDER BY step DESC))[1], max(step)
"""
_OF_BLOCKS = """
    sum(points), sum(total),
    min(low), (array_agg(low_step ORDER BY low, low_step))[1],
    max(high), (array_agg(high_step ORDER BY high DESC, high_step))[1],
    (array_agg(first ORDER BY first_step))[1], min(first_step),
    (array_agg(last ORDER BY last_step DESC))[1], max(last_step)
"""
_TARGET = f"INSERT INTO public.job_metric_blocks (project_id, {_KEY}, size, block, {_VALUES})"
_REPLACE = f"""
    ON CONFLICT (job_id, size, name, split, block) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _VALUES.split(", "))}
"""


def _level(index: int) -> str:
    """Returns the statements that compute the changed blocks of one size anew.

    Each block reads its own parts by the index, in a subquery that no planner turns into a join: a
    join of the changed blocks under row-level security read all points of the installation.
    """
    size = SIZES[index]
    changed = f"""
        SELECT DISTINCT project_id, job_id, name, split, step / {size} AS block FROM changed
    """  # noqa: S608 - constants
    gone = f"""
        DELETE FROM public.job_metric_blocks AS block
        WHERE block.job_id = ANY (jobs) AND block.size = {size}
          AND (block.job_id, block.name, block.split, block.block)
              IN (SELECT job_id, name, split, step / {size} FROM changed)
    """  # noqa: S608 - constants
    if index == 0:
        source, values, ratio, key = "public.job_metrics", _OF_POINTS, size, "step"
        only = "true"
    else:
        below = SIZES[index - 1]
        source, values, ratio, key = "public.job_metric_blocks", _OF_BLOCKS, size // below, "block"
        only = f"part.size = {below}"
    fill = f"""
        {_TARGET}
        SELECT own.project_id, own.job_id, own.name, own.split, {size}, own.block, found.*
        FROM ({changed}) AS own CROSS JOIN LATERAL (
            SELECT {values} FROM {source} AS part
            WHERE part.job_id = own.job_id AND part.name = own.name AND part.split = own.split
              AND {only}
              AND part.{key} >= own.block * {ratio} AND part.{key} < (own.block + 1) * {ratio}
        ) AS found (points)
        WHERE found.points > 0
        {_REPLACE}
    """  # noqa: S608 - constants
    return f"IF TG_OP = 'DELETE' THEN {gone}; END IF; {fill};"


# A plan for tables that were small, or never analysed, may stay in a session: none may scan them.
# The lock lets no two transactions compute a job's blocks at once: the later one would miss the
# points of the earlier. Each statement of the function reads what was committed before it.
_TRIGGER = f"""
    CREATE FUNCTION job_metric_blocks() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    AS $$
    DECLARE
        jobs text[] := ARRAY(SELECT DISTINCT job_id FROM changed ORDER BY job_id);
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(own, 43)) FROM unnest(jobs) AS own;
        {" ".join(_level(index) for index in range(len(SIZES)))}
        RETURN NULL;
    END
    $$
"""  # noqa: S608 - constants
_EVENTS = {"insert": "NEW", "update": "NEW", "delete": "OLD"}


def make_curve_blocks() -> None:
    op.execute(_TRIGGER)
    for event, rows in _EVENTS.items():
        op.execute(
            f"CREATE TRIGGER job_metric_blocks_{event} AFTER {event.upper()} ON job_metrics "
            f"REFERENCING {rows} TABLE AS changed "
            "FOR EACH STATEMENT EXECUTE FUNCTION job_metric_blocks()"
        )
