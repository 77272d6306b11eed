"""Assembles the application: routers, middleware, error handlers, lifespan.

Importing this module creates no application and does not import torch.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI

from app.api.admin_keys import router as admin_keys
from app.api.audit_logs import router as audit_logs
from app.api.chat_completions import router as chat_completions
from app.api.checkpoints import router as checkpoints
from app.api.coach_sessions import router as coach_sessions
from app.api.curricula import router as curricula
from app.api.environments import router as environments
from app.api.eval_runs import router as eval_runs
from app.api.evals import router as evals
from app.api.events import router as events
from app.api.exports import router as exports
from app.api.feedback import router as feedback
from app.api.files import router as files
from app.api.graders import router as graders
from app.api.health import router as health
from app.api.improvement_plans import router as improvement_plans
from app.api.jobs import router as jobs
from app.api.metrics import router as metrics
from app.api.middleware.body import BodyGuard
from app.api.middleware.empty_query_values import EmptyQueryValues
from app.api.middleware.head import Head
from app.api.middleware.idempotency import Idempotency
from app.api.middleware.process_metrics import RequestCounter, RouteRecorder
from app.api.middleware.request_context import RequestContext
from app.api.models import router as models
from app.api.permissions import router as permissions
from app.api.preflight import router as preflight
from app.api.process_metrics import router as process_metrics
from app.api.project_keys import router as project_keys
from app.api.projects import router as projects
from app.api.recipes import router as recipes
from app.api.reference import router as reference
from app.api.rollouts import router as rollouts
from app.api.service_accounts import router as service_accounts
from app.api.signing import router as signing
from app.api.stored_completions import router as stored_completions
from app.api.streams import router as streams
from app.api.students import router as students
from app.api.support import errors
from app.api.support.process_metrics import ProcessMetrics
from app.api.support.specification import SpecifiedApp, sent_events
from app.api.tools import router as tools
from app.api.trials import router as trials
from app.api.uploads import router as uploads
from app.api.usage import router as usage
from app.api.webhook_endpoints import router as webhook_endpoints
from app.dashboard.error_pages import ErrorPages
from app.dashboard.routes import FORMS
from app.dashboard.routes import router as pages
from app.factory.process import ProcessContext
from app.factory.project import coach_runner
from app.logs import hide_queries, log_to_stderr
from app.settings.settings import Settings, load_settings

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


def create_app(settings: Settings | None = None) -> FastAPI:
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

    app = SpecifiedApp(
        title="agent-rft",
        version="0.1.0",
        summary="Reinforcement fine-tuning of tool-using agents, on your own GPUs",
        lifespan=lifespan,
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
