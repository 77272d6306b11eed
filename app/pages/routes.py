"""Lists the routes of all pages, and the paths whose bodies are forms."""

import re
from typing import Final

from fastapi import APIRouter

from app.pages.administration import admin_keys_router as admin_keys
from app.pages.administration import router as projects
from app.pages.administration import usage_router as usage
from app.pages.comparisons import router as comparisons
from app.pages.curricula import router as student_curricula
from app.pages.documentation import documentation_router as documentation
from app.pages.documentation import router as assets
from app.pages.endpoints import router as endpoints
from app.pages.evals import eval_runs_router as eval_runs
from app.pages.evals import router as evals
from app.pages.files import router as files
from app.pages.jobs import baselines_router as baselines
from app.pages.jobs import reports_router as reports
from app.pages.jobs import router as jobs
from app.pages.jobs import streams_router as streams
from app.pages.models import router as models
from app.pages.rollouts import router as rollouts
from app.pages.student_plans import router as plans
from app.pages.student_progress import router as progress
from app.pages.students import chat_router as student_chat
from app.pages.students import router as students
from app.pages.transcripts import router as token_pages
from app.pages.visitors import router as sign_in
from app.pages.webhooks import router as webhook_endpoints

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
