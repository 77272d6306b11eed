"""Lists the routes of all pages, and the paths whose bodies are forms."""

import re
from typing import Final

from fastapi import APIRouter

from app.dashboard import (
    assets,
    baselines,
    comparisons,
    documentation,
    jobs,
    reports,
    rollouts,
    sign_in,
    streams,
    usage,
)
from app.dashboard.administration import admin_keys, projects
from app.dashboard.evals import eval_runs, evals
from app.dashboard.files import files
from app.dashboard.models import models
from app.dashboard.registry import endpoints
from app.dashboard.students.routes import ROOMS as TEACHING
from app.dashboard.tokens import token_pages
from app.dashboard.webhooks import webhook_endpoints

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
    *TEACHING,
):
    router.include_router(room.router)
