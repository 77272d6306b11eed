"""Builds the services of one project: one module per noun, joined here."""

from app.factory.evals import EvalServices
from app.factory.feedback import FeedbackServices
from app.factory.jobs import JobServices
from app.factory.students import StudentServices
from app.factory.webhooks import WebhookServices


class Factory(JobServices, EvalServices, FeedbackServices, StudentServices, WebhookServices):
    """Builds the services of one tenant."""
