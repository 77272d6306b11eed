"""All tables of the database: importing this module registers them."""

import app.accounts.tables
import app.evals.tables
import app.events.store
import app.files.tables
import app.http.idempotency_store
import app.jobs.tables
import app.kit.leases
import app.models.tables
import app.rollouts.tables
import app.teaching.coach.tables
import app.teaching.feedback.tables
import app.teaching.students.tables
import app.tools.tables
import app.webhooks.tables  # noqa: F401 - as all above, for its effect
from app.kit.sql import Base

__all__ = ["Base"]
