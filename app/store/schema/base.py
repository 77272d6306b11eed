"""Parts that all tables share: names of constraints, column shorthands, the tenant's key."""

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import DateTime, ForeignKeyConstraint, MetaData, Text, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

Id = Annotated[str, mapped_column(Text, primary_key=True)]
Timestamp = Annotated[datetime, mapped_column(DateTime(timezone=True))]
Now = Annotated[datetime, mapped_column(DateTime(timezone=True), server_default=func.now())]
JsonColumn = Annotated[dict[str, Any], mapped_column(JSONB)]


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {str: Text}  # noqa: RUF012 - read by SQLAlchemy as it is


def of_job() -> ForeignKeyConstraint:
    """Returns the foreign key of a job's child. It includes the project, so that a row cannot refer
    to another tenant's job.
    """
    return ForeignKeyConstraint(
        ["project_id", "job_id"],
        ["fine_tuning_jobs.project_id", "fine_tuning_jobs.id"],
        ondelete="CASCADE",
    )


def of_project() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project_id"], ["projects.id"])


def of_own_project() -> ForeignKeyConstraint:
    """Returns the foreign key to a project of the row's own organization.

    Both columns are needed: row-level security checks only one of them, and foreign keys are not
    subject to row-level security.
    """
    return ForeignKeyConstraint(
        ["organization_id", "project_id"], ["projects.organization_id", "projects.id"]
    )
