"""Lists the routes of all pages, and the paths whose bodies are forms."""

import re
from typing import Final

from fastapi import APIRouter

from app.dashboard.administration.admin_keys import router as admin_keys
from app.dashboard.administration.projects import router as projects
from app.dashboard.assets import router as assets
from app.dashboard.baselines import router as baselines
from app.dashboard.comparisons import router as comparisons
from app.dashboard.documentation import router as documentation
from app.dashboard.evals.eval_runs import router as eval_runs
from app.dashboard.evals.evals import router as evals
from app.dashboard.files.files import router as files
from app.dashboard.jobs import router as jobs
from app.dashboard.models.models import router as models
from app.dashboard.registry.endpoints import router as endpoints
from app.dashboard.reports import router as reports
from app.dashboard.rollouts import router as rollouts
from app.dashboard.sign_in import router as sign_in
from app.dashboard.streams import router as streams
from app.dashboard.students.chat import router as student_chat
from app.dashboard.students.curricula import router as student_curricula
from app.dashboard.students.plans import router as plans
from app.dashboard.students.progress import router as progress
from app.dashboard.students.students import router as students
from app.dashboard.tokens.token_pages import router as token_pages
from app.dashboard.usage import router as usage
from app.dashboard.webhooks.webhook_endpoints import router as webhook_endpoints

FORMS: Final = re.compile(
    r"/sign-in|/sign-out|/jobs/[^/]+/(?:pause|resume|cancel)|/endpoints/[^/]+/[^/]+/test|/models/(?:ask|stream)"
    r"|/webhooks(?:/[^/]+/(?:test|rotate|enable|delete|deliveries/[^/]+/redeliver))?"
    r"|/projects(?:/[^/]+/(?:rename|archive|keys(?:/[^/]+/(?:rotate|delete))?))?"
    r"|/admin-keys(?:/[^/]+/(?:rotate|delete))?|/teach/.+"
)
"""Paths of the forms; all other bodies are JSON or uploads."""
router = APIRouter(include_in_schema=False)
for room in (
    *(sign_in, comparisons, jobs, reports, rollouts, streams, usage, assets, documentation),
    *(token_pages, baselines, models, endpoints, files, evals, eval_runs, webhook_endpoints),
    *(projects, admin_keys),
    *(students, student_chat, plans, progress, student_curricula),
):
    router.include_router(room)
