"""Journal of samples and replies within a step that is not committed yet.

The payload is `json`, not `jsonb`, so that it is read back as written, with NUL and lone surrogates
as escapes. A replay that reads other characters than the first run would sample other tokens.
"""

from typing import Any

from sqlalchemy import JSON, PrimaryKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Now, of_job


class JournalTable(Base):
    __tablename__ = "journal"
    __table_args__ = (PrimaryKeyConstraint("job_id", "key"), of_job())

    job_id: Mapped[str]
    key: Mapped[str]
    project_id: Mapped[str]
    step: Mapped[int]
    request_sha256: Mapped[str]
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[Now]
