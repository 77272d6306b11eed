"""Output items of eval runs. The unique position in a run guarantees that an item counts once."""

from typing import Any

from sqlalchemy import ForeignKeyConstraint, PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, JsonColumn, Now


class EvalItemTable(Base):
    __tablename__ = "eval_output_items"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        ForeignKeyConstraint(
            ["project_id", "run_id"], ["eval_runs.project_id", "eval_runs.id"], ondelete="CASCADE"
        ),
        UniqueConstraint("project_id", "run_id", "position"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    run_id: Mapped[str]
    eval_id: Mapped[str]
    position: Mapped[int]
    status: Mapped[str]
    datasource_item: Mapped[JsonColumn]
    results: Mapped[list[Any]] = mapped_column(JSONB)
    sample: Mapped[JsonColumn]
    usage: Mapped[list[Any]] = mapped_column(JSONB)
    """`[[model, tokens]]` of every call for the item; the next claim adds them to the totals."""
    created_at: Mapped[Now]
