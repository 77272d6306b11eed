"""A student as a row, with a skill and a session of the Coach."""

from app.database import UnitOfWork
from app.kit.callers import Tenant
from app.teaching.coach.sessions import CoachSession, LogbookEntry
from app.teaching.students.students import Skill, SkillStatus, Student


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
