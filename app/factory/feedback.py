"""Builds the services of feedback, of the files built from it, and of its removal."""

from app.factory.registry import RegistryServices
from app.services.feedback.builds import BuildPorts, FeedbackBuildService
from app.services.feedback.end_users import EndUserService
from app.services.feedback.feedback import FeedbackService


class FeedbackServices(RegistryServices):
    def feedback(self) -> FeedbackService:
        return FeedbackService(self._context.database, self._tenant, redaction=self._redaction())

    def feedback_builds(self) -> FeedbackBuildService:
        return FeedbackBuildService(self._context.database, self._build_ports(), self._tenant)

    def end_users(self) -> EndUserService:
        return EndUserService(self._context.database, self._build_ports(), self._tenant)

    def _build_ports(self) -> BuildPorts:
        return BuildPorts(self.feedback(), self.files(), self.row_files(), self.curricula())
