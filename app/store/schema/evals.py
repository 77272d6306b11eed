"""Evals. The eval of a job belongs to the job; its runs are read from the job's rollouts."""

from typing import Any

from sqlalchemy import BigInteger, Computed, Index, LargeBinary, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, JsonColumn, Now, of_job, of_project


class EvalTable(Base):
    __tablename__ = "evals"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        of_job(),
        Index(None, "project_id", "created_at", "id"),
        Index(None, "project_id", "updated_at", "id"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    job_id: Mapped[str | None]
    name: Mapped[str]
    data_source_config: Mapped[JsonColumn]
    testing_criteria: Mapped[list[Any]] = mapped_column(JSONB)
    secrets: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Sealed headers of graders; see `app.gateways.secrets`."""
    eval_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    bytes: Mapped[int] = mapped_column(
        BigInteger,
        Computed(
            "octet_length(data_source_config::text) + octet_length(testing_criteria::text)",
            persisted=True,
        ),
    )
    """Counts toward the project's quota of bytes, unless the eval is of a job."""
    created_at: Mapped[Now]
    updated_at: Mapped[Now]
