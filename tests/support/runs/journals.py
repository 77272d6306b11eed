"""Opens the journal of a claimed run, and stores one in memory as Postgres would."""

import json

from workers.journal import InMemoryJournal
from workers.runs.context import PostgresJournal, RunContext


def journal_of(context: RunContext, step: int) -> PostgresJournal:
    return PostgresJournal(context.unit, job_id=context.job.id, step=step)


def as_stored(journal: InMemoryJournal) -> InMemoryJournal:
    """Returns the journal as a resume reads it: every payload went through JSON."""
    stored = InMemoryJournal()
    stored.entries = {
        key: (sha256, json.loads(json.dumps(payload)))
        for key, (sha256, payload) in journal.entries.items()
    }
    return stored
