"""Students, and the skills that were proposed to them."""

from typing import Any

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.kit.fields import Json
from app.kit.sql import Base, Now, Timestamp, of_project


class StudentTable(Base):
    __tablename__ = "students"
    __table_args__ = (PrimaryKeyConstraint("project_id", "name"), of_project())

    project_id: Mapped[str]
    name: Mapped[str]
    base_model: Mapped[str]
    regression_sets: Mapped[list[Any]] = mapped_column(JSONB)
    current_skill: Mapped[str | None]
    edited_instructions: Mapped[Json] = mapped_column(JSONB, server_default=text("'{}'"))
    """Texts by the id of their skill; that of the base model by an empty one."""
    created_at: Mapped[Now]


class SkillTable(Base):
    __tablename__ = "skills"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "student"], ["students.project_id", "students.name"], ondelete="CASCADE"
        ),
        Index(None, "project_id", "student", "created_at", "id"),
    )

    project_id: Mapped[str]
    id: Mapped[str]
    student: Mapped[str]
    job_id: Mapped[str]
    """Not a foreign key: the history of a student outlives the rows of its jobs."""
    model: Mapped[str]
    baseline: Mapped[str]
    status: Mapped[str]
    reason: Mapped[str | None]
    runs: Mapped[list[Any]] = mapped_column(JSONB)
    comparisons: Mapped[list[Any]] = mapped_column(JSONB)
    instructions: Mapped[str | None]
    """Those of the examples; `edited_instructions` may replace them."""
    promoted_at: Mapped[Timestamp | None]
    created_at: Mapped[Now]
