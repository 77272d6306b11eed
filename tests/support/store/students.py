"""A student as a row, with a skill and a session of the Coach."""

from app.domain.accounts.tenants import Tenant
from app.domain.coach.sessions import CoachSession, LogbookEntry
from app.domain.students.students import Skill, SkillStatus, Student
from app.store.unit_of_work import UnitOfWork


async def insert_student(unit: UnitOfWork, tenant: Tenant, job_id: str) -> None:
    """Inserts one row of each kind."""
    await unit.students.insert(Student(name="clerk", base_model="m"))
    await unit.skills.insert(
        Skill(
            id="skill_1",
            student="clerk",
            job_id=job_id,
            model="ft",
            baseline="m",
            status=SkillStatus.RUNNING,
        )
    )
    session = CoachSession(
        id="coach_1", student="clerk", training_file="file-a", validation_file="file-b", method={}
    )
    await unit.coach_sessions.insert(session, tenant, secrets=None)
    await unit.coach_sessions.append("coach_1", [LogbookEntry("started", "I begin.")])
