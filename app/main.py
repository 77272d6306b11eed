"""Assembles the application: routers, middleware, error handlers, lifespan.

Importing this module creates no application and does not import torch.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from starlette.types import Lifespan

from app.accounts.routes import admin_keys_router as admin_keys
from app.accounts.routes import project_keys_router as project_keys
from app.accounts.routes import router as projects
from app.accounts.routes import service_accounts_router as service_accounts
from app.accounts.usage_routes import audit_logs_router as audit_logs
from app.accounts.usage_routes import router as usage
from app.curricula.routes import router as curricula
from app.evals.routes import eval_runs_router as eval_runs
from app.evals.routes import router as evals
from app.files.routes import router as files
from app.files.routes import uploads_router as uploads
from app.graders.routes import router as graders
from app.http import error_replies as errors
from app.http.bodies import BodyGuard
from app.http.idempotent_requests import Idempotency
from app.http.monitoring import ProcessMetrics, RequestCounter, RouteRecorder
from app.http.monitoring import health_router as health
from app.http.monitoring import metrics_router as process_metrics
from app.http.requests import EmptyQueryValues, Head, RequestContext
from app.http.specification import SpecifiedApp, sent_events
from app.jobs.routes import checkpoints_router as checkpoints
from app.jobs.routes import events_router as events
from app.jobs.routes import metrics_router as metrics
from app.jobs.routes import preflight_router as preflight
from app.jobs.routes import router as jobs
from app.jobs.routes import streams_router as streams
from app.kit.logs import hide_queries, log_to_stderr
from app.models.routes import chat_completions_router as chat_completions
from app.models.routes import exports_router as exports
from app.models.routes import permissions_router as permissions
from app.models.routes import router as models
from app.models.routes import stored_completions_router as stored_completions
from app.pages.error_pages import ErrorPages
from app.pages.reference import router as reference
from app.pages.routes import FORMS
from app.pages.routes import router as pages
from app.rollouts.routes import router as rollouts
from app.settings import Settings, load_settings
from app.teaching.coach.routes import router as coach_sessions
from app.teaching.feedback.routes import router as feedback
from app.teaching.plans.routes import router as improvement_plans
from app.teaching.recipes.routes import router as recipes
from app.teaching.students.routes import router as students
from app.tools.routes import environments_router as environments
from app.tools.routes import router as tools
from app.tools.routes import trials_router as trials
from app.webhooks.routes import router as webhook_endpoints
from app.webhooks.routes import signing_router as signing
from app.wiring import ProcessContext, coach_runner

_ROUTES = (
    preflight,
    jobs,
    events,
    checkpoints,
    permissions,
    metrics,
    streams,
    rollouts,
    files,
    uploads,
    tools,
    graders,
    curricula,
    environments,
    improvement_plans,
    recipes,
    exports,  # before `models`, whose names take slashes
    models,
    chat_completions,
    stored_completions,
    feedback,
    evals,
    eval_runs,
    students,
    coach_sessions,
    webhook_endpoints,
    signing,
    trials,
    projects,
    project_keys,
    service_accounts,
    admin_keys,
    audit_logs,
    usage,
    health,
    process_metrics,
    reference,
)


@cache
def _freeze_startup_objects() -> None:
    """Exempts the objects of start-up from garbage collection. Scanning them would delay requests
    by some 150 ms whenever one request allocates many values.
    """
    gc.collect()
    gc.freeze()


def lifespan_of(settings: Settings | None) -> Lifespan[FastAPI]:
    """Returns what opens the pools and clients of a process, and closes them at its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        log_to_stderr()
        hide_queries()
        context = ProcessContext.of(settings or load_settings())
        app.state.context = context
        if context.settings.monitoring_key is not None:
            app.state.process_metrics = ProcessMetrics()
        runner = coach_runner(context)
        _freeze_startup_objects()
        runner.start()
        try:
            yield
        finally:
            await runner.aclose()
            await context.aclose()

    return lifespan


def create_app(settings: Settings | None = None) -> FastAPI:
    app = SpecifiedApp(
        title="agent-rft",
        version="0.1.0",
        summary="Reinforcement fine-tuning of tool-using agents, on your own GPUs",
        lifespan=lifespan_of(settings),
        redirect_slashes=False,
        openapi_url=None,  # `reference` serves it, with a page that needs no network
    )
    for router in _ROUTES:
        app.include_router(router)
    app.include_router(pages)
    app.webhooks.include_router(sent_events())
    app.state.process_metrics = None
    errors.install(app)
    app.add_middleware(RouteRecorder)
    app.add_middleware(Idempotency)
    app.add_middleware(BodyGuard, forms=FORMS)
    app.add_middleware(EmptyQueryValues)
    app.add_middleware(Head)
    app.add_middleware(RequestContext)
    app.add_middleware(ErrorPages)
    app.add_middleware(RequestCounter)
    return app
