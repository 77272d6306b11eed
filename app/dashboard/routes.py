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
    models,
    reports,
    rollouts,
    sign_in,
    streams,
    usage,
)
from app.dashboard.registry import endpoints
from app.dashboard.students.routes import ROOMS as TEACHING

FORMS: Final = re.compile(
    r"/sign-in|/sign-out|/jobs/[^/]+/(?:pause|resume|cancel)|/endpoints/[^/]+/[^/]+/test|/models/ask"
    r"|/teach/.+"
)
"""Paths of the forms; all other bodies are JSON or uploads."""
router = APIRouter(include_in_schema=False)
for room in (
    *(sign_in, comparisons, jobs, reports, rollouts, streams, usage, assets, documentation),
    *(baselines, models, endpoints),
    *TEACHING,
):
    router.include_router(room.router)
