"""Virtual times of organizations in each queue of leased rows; see `app.store.queues`."""

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id


class OrganizationTurnTable(Base):
    __tablename__ = "organization_turns"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        Index(None, "queue", "turn"),
    )

    queue: Mapped[Id]
    """The table whose rows wait."""
    organization_id: Mapped[Id]
    turn: Mapped[float]
    """The organization's turn at its last claim, in virtual time."""
    project_turn: Mapped[float]
    """The turn that the claimed row's project had among the organization's projects."""
