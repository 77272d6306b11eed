"""Builds the service of students."""

from app.factory.models import ModelServices
from app.services.students.students import StudentService


class StudentServices(ModelServices):
    def students(self) -> StudentService:
        context = self._context
        return StudentService(
            context.database,
            context.queue,
            base_models=context.settings.base_models,
            tenant=self._tenant,
        )
