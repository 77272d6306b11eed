"""Labels several jobs of one chart. Pure."""

from collections import Counter
from collections.abc import Sequence

from app.domain.jobs.jobs import Job


def job_labels(jobs: Sequence[Job]) -> list[str]:
    """Returns the suffix of each job, or its id where it has none or shares it."""
    counts = Counter(job.suffix for job in jobs)
    return [job.suffix if job.suffix and counts[job.suffix] == 1 else job.id for job in jobs]
