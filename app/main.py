"""Assembles the application: routers, middleware, error handlers, lifespan.

Importing this module creates no application and does not import torch.
"""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.types import Lifespan

from app.accounts import routes as accounts
from app.accounts import usage_routes as usage
from app.curricula import routes as curricula
from app.evals import routes as evals
from app.files import routes as files
from app.graders import routes as graders
from app.http import error_replies, monitoring
from app.http.bodies import BodyGuard
from app.http.hosts import AcceptedHosts
from app.http.idempotent_requests import Idempotency
from app.http.monitoring import ProcessMetrics, RequestCounter, RouteRecorder
from app.http.requests import EmptyQueryValues, Head, RequestContext
from app.http.scopes import check_nouns
from app.http.specification import SpecifiedApp, sent_events
from app.jobs import routes as jobs
from app.kit.logs import hide_queries, log_to_stderr
from app.models import routes as models
from app.pages import documentation
from app.pages import routes as pages
from app.pages.visitors import ErrorPages
from app.rollouts import routes as rollouts
from app.settings import Settings, load_settings
from app.teaching.coach import routes as coach
from app.teaching.feedback import routes as feedback
from app.teaching.plans import routes as plans
from app.teaching.recipes import routes as recipes
from app.teaching.students import routes as students
from app.tools import routes as tools
from app.webhooks import routes as webhooks
from app.wiring import ProcessContext, coach_runner

_ROUTERS = (
    jobs.preflight_router,
    jobs.router,
    jobs.events_router,
    jobs.checkpoints_router,
    models.permissions_router,
    jobs.metrics_router,
    jobs.streams_router,
    rollouts.router,
    files.router,
    files.uploads_router,
    tools.router,
    graders.router,
    curricula.router,
    tools.environments_router,
    plans.router,
    recipes.router,
    models.exports_router,  # before `models.router`, whose names take slashes
    models.router,
    models.chat_completions_router,
    models.stored_completions_router,
    feedback.router,
    evals.router,
    evals.eval_runs_router,
    students.router,
    coach.router,
    webhooks.router,
    webhooks.signing_router,
    tools.trials_router,
    accounts.router,
    accounts.project_keys_router,
    accounts.service_accounts_router,
    accounts.admin_keys_router,
    usage.audit_logs_router,
    usage.router,
    monitoring.health_router,
    monitoring.metrics_router,
    documentation.reference_router,
    pages.router,
)


@cache
def _freeze_startup_objects() -> None:
    # A scan of them would delay requests by some 150 ms whenever one allocates many values.
    gc.collect()
    gc.freeze()


def lifespan_of(settings: Settings | None) -> Lifespan[FastAPI]:

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        log_to_stderr()
        hide_queries()
        context = ProcessContext(settings or load_settings())
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
    for router in _ROUTERS:
        app.include_router(router)
    check_nouns(route.path for route in iter_route_contexts(app.routes) if route.path)
    app.webhooks.include_router(sent_events())
    app.state.process_metrics = None
    error_replies.install(app)
    app.add_middleware(RouteRecorder)
    app.add_middleware(Idempotency)
    app.add_middleware(BodyGuard, forms=pages.FORMS)
    app.add_middleware(EmptyQueryValues)
    app.add_middleware(Head)
    app.add_middleware(AcceptedHosts)
    app.add_middleware(RequestContext)
    app.add_middleware(ErrorPages)
    app.add_middleware(RequestCounter)
    return app
