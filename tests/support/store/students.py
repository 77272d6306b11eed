"""A student as a row, with a skill."""

from app.domain.students.students import Skill, SkillStatus, Student
from app.store.unit_of_work import UnitOfWork


async def insert_student(unit: UnitOfWork, job_id: str) -> None:
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
