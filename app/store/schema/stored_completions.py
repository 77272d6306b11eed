"""Chat completions that a caller asked to store."""

from typing import Any

from sqlalchemy import BigInteger, Index, PrimaryKeyConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, JsonColumn, Now, of_project


class StoredCompletionTable(Base):
    __tablename__ = "stored_completions"
    __table_args__ = (
        PrimaryKeyConstraint("project_id", "id"),
        of_project(),
        Index(None, "project_id", "created_at", "id"),
        Index(None, "project_id", "end_user"),
        Index(None, "created_at"),
    )

    id: Mapped[str]
    project_id: Mapped[str]
    model: Mapped[str]
    end_user: Mapped[str | None]
    completion_metadata: Mapped[dict[str, Any] | None] = mapped_column(
        "metadata", JSONB(none_as_null=True)
    )
    request: Mapped[JsonColumn]
    """Messages and tools, as sent."""
    reply: Mapped[JsonColumn]
    """The whole completion, as answered."""
    bytes: Mapped[int] = mapped_column(BigInteger)
    """Size of request and reply as JSON, which the quota counts."""
    created_at: Mapped[Now]
