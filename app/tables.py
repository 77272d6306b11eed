"""Tables, one file per noun, without behaviour. Importing this room registers all of them."""

from app.accounts import tables as audit_logs
from app.accounts import tables as dashboard_sessions
from app.accounts import tables as keys
from app.accounts import tables as projects
from app.accounts import tables as service_accounts
from app.accounts import tables as usage
from app.evals import tables as eval_items
from app.evals import tables as eval_runs
from app.evals import tables as evals
from app.events import store as event_log
from app.files import tables as files
from app.files import tables as uploads
from app.http import idempotency_store as idempotency
from app.jobs import tables as checkpoints
from app.jobs import tables as events
from app.jobs import tables as jobs
from app.jobs import tables as journal
from app.jobs import tables as metrics
from app.jobs import tables as reports
from app.kit import leases as virtual_times
from app.kit.sql import Base
from app.models import tables as exports
from app.models import tables as models
from app.models import tables as permissions
from app.models import tables as stored_completions
from app.rollouts import tables as rollouts
from app.teaching.coach import tables as coach
from app.teaching.feedback import tables as feedback
from app.teaching.students import tables as students
from app.tools import tables as registry
from app.webhooks import tables as webhooks

__all__ = [
    "Base",
    "audit_logs",
    "checkpoints",
    "coach",
    "dashboard_sessions",
    "eval_items",
    "eval_runs",
    "evals",
    "event_log",
    "events",
    "exports",
    "feedback",
    "files",
    "idempotency",
    "jobs",
    "journal",
    "keys",
    "metrics",
    "models",
    "permissions",
    "projects",
    "registry",
    "reports",
    "rollouts",
    "service_accounts",
    "stored_completions",
    "students",
    "uploads",
    "usage",
    "virtual_times",
    "webhooks",
]
