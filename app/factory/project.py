"""Builds the services of one project: one module per noun, joined here."""

from app.factory.coach import CoachServices
from app.factory.evals import EvalServices
from app.factory.feedback import FeedbackServices
from app.factory.process import ProcessContext
from app.factory.webhooks import WebhookServices
from app.services.coach.runner import CoachRunner


class Factory(CoachServices, EvalServices, FeedbackServices, WebhookServices):
    """Builds the services of one tenant."""


def coach_runner(context: ProcessContext) -> CoachRunner:
    """Builds the runner of one process, which takes each step as the session's tenant."""
    return CoachRunner(
        context.database,
        lambda tenant: Factory(context, tenant).coach_driver(),
        poll_s=context.settings.coach_poll_s,
    )
