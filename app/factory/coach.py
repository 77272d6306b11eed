"""Builds the services of the Coach."""

from app.factory.jobs import JobServices
from app.factory.students import StudentServices
from app.services.coach.child_jobs import ChildJobs
from app.services.coach.driver import CoachDriver, CoachPorts
from app.services.coach.evidence_reader import EvidenceReader
from app.services.coach.session_files import SessionFiles
from app.services.coach.sessions import CoachSessionPorts, CoachSessionService


class CoachServices(JobServices, StudentServices):
    def coach_sessions(self) -> CoachSessionService:
        context = self._context
        ports = CoachSessionPorts(
            self.references(), self._session_files(), self.jobs(), context.secret_box
        )
        return CoachSessionService(context.database, ports, self._tenant)

    def coach_driver(self) -> CoachDriver:
        context, files = self._context, self._session_files()
        ports = CoachPorts(
            evidence=EvidenceReader(context.database, files, self.students()),
            children=ChildJobs(
                self.job_creation(), files, context.secret_box, self._tenant.project_id
            ),
            jobs=self.jobs(),
            students=self.students(),
        )
        return CoachDriver(context.database, ports, self._tenant)

    def _session_files(self) -> SessionFiles:
        context = self._context
        return SessionFiles(context.database, context.inspections, self.row_files(), self._tenant)
