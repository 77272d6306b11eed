"""Virtual times of organizations in each queue of leased rows; see `app.store.leases.queues`."""

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped

from app.store.schema.base import Base, Id


class OrganizationVirtualTimeTable(Base):
    __tablename__ = "organization_virtual_times"
    __table_args__ = (
        ForeignKeyConstraint(["organization_id"], ["organizations.id"]),
        Index(None, "queue", "virtual_time"),
    )

    queue: Mapped[Id]
    """The table whose rows wait."""
    organization_id: Mapped[Id]
    virtual_time: Mapped[float]
    """The organization's virtual time at its last claim."""
    project_virtual_time: Mapped[float]
    """The virtual time that the claimed row's project had among the organization's projects."""
