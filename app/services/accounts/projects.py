"""Use cases of an organization's projects: creation, renaming, archiving.

An archived project keeps every row. Its keys are refused at once, its running work ends, and no new
work begins.
"""

import time
from dataclasses import dataclass
from typing import Protocol

import structlog

from app.domain.accounts.keys import Project
from app.domain.accounts.quotas import Quotas, check_quota
from app.domain.accounts.tenants import AdminPrincipal, Tenant
from app.domain.errors import WrongState
from app.domain.ids import ProjectId, new_id
from app.services.evals.eval_runs import EvalRunService
from app.services.jobs.jobs import JobService
from app.store.database import Database
from app.store.unit_of_work import UnitOfWork

log = structlog.get_logger()


class ProjectWork(Protocol):
    """Running work of a project, which archiving ends."""

    def jobs(self) -> JobService: ...

    def eval_runs(self) -> EvalRunService: ...


class ProjectWorkFactory(Protocol):
    def __call__(self, tenant: Tenant) -> ProjectWork: ...


@dataclass(frozen=True, slots=True)
class _OpenWork:
    jobs: list[str]
    runs: list[tuple[str, str]]


class ProjectService:
    def __init__(
        self,
        database: Database,
        principal: AdminPrincipal,
        *,
        work_of: ProjectWorkFactory,
        quotas: Quotas,
    ) -> None:
        self._quotas = quotas
        self._database = database
        self._principal = principal
        self._organization_id = principal.organization_id
        self._work_of = work_of

    async def create(self, name: str) -> Project:
        """Creates a project. Raises `InvalidRequest` for a name in use, `QuotaExceeded` when the
        organization has too many projects.
        """
        project = Project(
            id=new_id("proj_"),
            organization_id=self._organization_id,
            name=name,
            created_at=int(time.time()),
        )
        async with self._database.organization(self._organization_id) as unit:
            used = await unit.projects.count_active(self._organization_id)
            check_quota("projects", used=used, adding=1, limit=self._quotas.projects)
            await unit.projects.insert_project(project)
            made = await unit.projects.get(self._organization_id, project.id)
        self._note("project created", project.id)
        return made

    async def get(self, project_id: str) -> Project:
        async with self._database.organization(self._organization_id) as unit:
            return await unit.projects.get(self._organization_id, project_id)

    async def page(
        self, *, archived: bool, after: str | None, limit: int
    ) -> tuple[list[Project], bool]:
        async with self._database.organization(self._organization_id) as unit:
            return await unit.projects.page(
                self._organization_id, archived=archived, after=after, limit=limit
            )

    async def rename(self, project_id: str, name: str | None) -> Project:
        """Renames a project; `None` leaves the name unchanged. Raises `WrongState` for an archived
        project.
        """
        async with self._database.organization(self._organization_id) as unit:
            project = await hold_active(unit, self._organization_id, project_id)
            if name is None or name == project.name:
                return project
            await unit.projects.rename(project_id, name)
            return await unit.projects.get(self._organization_id, project_id)

    async def archive(self, project_id: str) -> Project:
        """Archives the project. A repeated call ends work that an interrupted one left running."""
        organization_id = self._organization_id
        async with self._database.project_of(organization_id, ProjectId(project_id)) as unit:
            # Work that had begun is visible now; later work is refused.
            project = await unit.projects.seize(organization_id, project_id)
            if project.archived_at is None:
                await unit.projects.mark_archived(project_id)
                await unit.keys.mark_project_archived(organization_id, project_id)
                project = await unit.projects.get(organization_id, project_id)
                self._note("project archived", project_id)
            await unit.exports.cancel_all()
            left = _OpenWork(await unit.jobs.open_ids(), await unit.eval_runs.open_ids())
        await self._end(project_id, left)
        return project

    async def _end(self, project_id: str, left: _OpenWork) -> None:
        work = self._work_of(
            Tenant(
                organization_id=self._organization_id,
                project_id=ProjectId(project_id),
                organization_slug="",
                key_id=self._principal.key_id,
            )
        )
        for job_id in left.jobs:
            try:
                await work.jobs().cancel(job_id)
            except WrongState:  # it ended meanwhile
                log.info("a job had ended before it was cancelled", job_id=job_id)
        for eval_id, run_id in left.runs:
            try:
                await work.eval_runs().cancel(eval_id, run_id)
            except WrongState:
                log.info("a run had ended before it was cancelled", run_id=run_id)

    def _note(self, what: str, project_id: str) -> None:
        log.info(what, project_id=project_id, by_key=self._principal.key_id)


async def hold_active(unit: UnitOfWork, organization_id: str, project_id: str) -> Project:
    """Returns an active project, locked until the unit ends. Raises `NotFound`, or `WrongState`."""
    project = await unit.projects.hold(organization_id, project_id)
    if project.archived_at is not None:
        raise WrongState(
            f"Project {project_id} is archived; it cannot be used or changed.",
            code="project_archived",
        )
    return project
