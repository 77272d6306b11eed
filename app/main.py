"""Assembles the application: routers, middleware, error handlers, lifespan.

Importing this module creates no application and does not import torch.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI

from app.api import (
    admin_keys,
    audit_logs,
    chat_completions,
    checkpoints,
    coach_sessions,
    curricula,
    environments,
    eval_runs,
    evals,
    events,
    exports,
    feedback,
    files,
    graders,
    health,
    improvement_plans,
    jobs,
    metrics,
    models,
    permissions,
    preflight,
    process_metrics,
    project_keys,
    projects,
    recipes,
    reference,
    rollouts,
    service_accounts,
    signing,
    stored_completions,
    streams,
    students,
    tools,
    trials,
    uploads,
    usage,
    webhook_endpoints,
)
from app.api.middleware.body import BodyGuard
from app.api.middleware.empty_query_values import EmptyQueryValues
from app.api.middleware.head import Head
from app.api.middleware.idempotency import Idempotency
from app.api.middleware.process_metrics import RequestCounter, RouteRecorder
from app.api.middleware.request_context import RequestContext
from app.api.support import errors
from app.api.support.process_metrics import ProcessMetrics
from app.api.support.specification import SpecifiedApp, sent_events
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
    for module in _ROUTES:
        app.include_router(module.router)
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
