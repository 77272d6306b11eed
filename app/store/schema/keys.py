"""API keys. The secret is stored only as an HMAC."""

from sqlalchemy import ForeignKeyConstraint, LargeBinary, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.store.schema.base import Base, Id, Now, Timestamp


class ApiKeyTable(Base):
    __tablename__ = "api_keys"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        ForeignKeyConstraint(["project_id"], ["projects.id"]),
        UniqueConstraint("key_id"),
    )

    id: Mapped[Id]
    organization_id: Mapped[str]
    project_id: Mapped[str | None]
    kind: Mapped[str]
    name: Mapped[str]
    key_id: Mapped[str]
    secret_hmac: Mapped[bytes] = mapped_column(LargeBinary)
    last4: Mapped[str]
    created_at: Mapped[Now]
    expires_at: Mapped[Timestamp | None]
    revoked_at: Mapped[Timestamp | None]
