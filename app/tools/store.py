"""Registered objects as rows. A deleted one is hidden, and its name can be used again."""

from sqlalchemy import Select, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.kit.errors import InvalidRequest, NotFound, WrongState
from app.kit.sql import Keyset, ProjectRows, cut, from_row, unix
from app.tools.registry import Noun, RegisteredVersion
from app.tools.tables import RegisteredObjectTable as Head
from app.tools.tables import RegisteredVersionTable as Version

_NEWEST_FIRST = Keyset((Head.created_at, Head.id), descending=True)
_NAME_INDEX = "uq_registered_objects_living_name"


class RegistryStore(ProjectRows):
    async def insert(self, new: RegisteredVersion) -> None:
        head = insert(Head).values(
            id=new.id,
            project_id=self._project_id,
            noun=new.noun.value,
            name=new.name,
            version=new.version,
        )
        try:
            await self._session.execute(head)
        except IntegrityError as error:
            raise _name_error(error, new) from error
        await self._insert_version(new)

    async def append(self, new: RegisteredVersion) -> None:
        """Inserts the next version. Raises `WrongState` if another came first."""
        moved = (
            update(Head)
            .where(
                Head.id == new.id,
                Head.noun == new.noun.value,
                Head.deleted_at.is_(None),
                Head.version == new.version - 1,
            )
            .values(version=new.version, name=new.name)
            .returning(Head.id)
        )
        try:
            updated_id = await self._session.scalar(moved)
        except IntegrityError as error:
            raise _name_error(error, new) from error
        if updated_id is None:
            await self.get(new.noun, new.id)
            raise WrongState(
                f"{new.id} was updated by another call at the same time; read it and try again.",
                code="version_conflict",
            )
        await self._insert_version(new)

    async def get(
        self, noun: Noun, object_id: str, *, version: int | None = None
    ) -> RegisteredVersion:
        number = Head.version if version is None else version
        query = self._not_deleted(noun).where(Head.id == object_id, Version.version == number)
        row = (await self._session.execute(query)).one_or_none()
        if row is None:
            which = "" if version is None else f" of version {version}"
            raise NotFound(
                f"No such {noun.value}: {object_id}{which}", param="id", code=f"{noun}_not_found"
            )
        return _to_registered(*row)

    async def check_name(self, noun: Noun, name: str) -> None:
        taken = select(Head.id).where(
            Head.noun == noun.value, Head.deleted_at.is_(None), Head.name == name
        )
        if await self._session.scalar(taken) is not None:
            raise name_taken(noun, name)

    async def id_of(self, noun: Noun, name: str) -> str | None:
        known = (
            select(Head.id)
            .where(
                Head.noun == noun.value,
                Head.deleted_at.is_(None),
                (Head.id == name) | (Head.name == name),
            )
            .order_by((Head.id == name).desc())
            .limit(1)
        )
        found: str | None = await self._session.scalar(known)
        return found

    async def page(
        self, noun: Noun, *, after: str | None, limit: int
    ) -> tuple[list[RegisteredVersion], bool]:
        query = self._not_deleted(noun).where(Version.version == Head.version)
        query = await _NEWEST_FIRST.start_after(
            self._session, query, after=after, cursor=[Head.id == after, Head.noun == noun.value]
        )
        rows, more = cut((await self._session.execute(query.limit(limit + 1))).all(), limit)
        return [_to_registered(*row) for row in rows], more

    async def versions(
        self, noun: Noun, object_id: str, *, before: int | None, limit: int
    ) -> tuple[list[RegisteredVersion], bool]:
        query = self._not_deleted(noun).where(Head.id == object_id)
        if before is not None:
            query = query.where(Version.version < before)
        query = query.order_by(Version.version.desc()).limit(limit + 1)
        all_rows = (await self._session.execute(query)).all()
        if not all_rows:
            await self.get(noun, object_id)
        rows, more = cut(all_rows, limit)
        return [_to_registered(*row) for row in rows], more

    async def mark_deleted(self, noun: Noun, object_id: str) -> None:
        """Removes an object's versions and secrets; the hidden head stays for paging."""
        await self.get(noun, object_id)
        await self._session.execute(
            update(Head).where(Head.id == object_id).values(deleted_at=func.now())
        )
        await self._session.execute(delete(Version).where(Version.object_id == object_id))

    async def _insert_version(self, new: RegisteredVersion) -> None:
        await self._session.execute(
            insert(Version).values(
                project_id=self._project_id,
                object_id=new.id,
                version=new.version,
                name=new.name,
                definition=new.definition,
                secrets=new.secrets,
                object_metadata=new.metadata,
            )
        )

    @staticmethod
    def _not_deleted(noun: Noun) -> Select[Head, Version]:
        return (
            select(Head, Version)
            .join(Version, (Version.project_id == Head.project_id) & (Version.object_id == Head.id))
            .where(Head.noun == noun.value, Head.deleted_at.is_(None))
        )


def _name_error(error: IntegrityError, new: RegisteredVersion) -> Exception:
    if _NAME_INDEX not in str(error.orig):
        return error
    return name_taken(new.noun, new.name)


def name_taken(noun: Noun, name: str) -> InvalidRequest:
    return InvalidRequest(
        f"Another {noun.value} named '{name}' exists already.", param="name", code="name_taken"
    )


def _to_registered(head: Head, version: Version) -> RegisteredVersion:
    return from_row(
        RegisteredVersion,
        version,
        id=head.id,
        noun=Noun(head.noun),
        metadata=version.object_metadata,
        created_at=unix(head.created_at),
        updated_at=unix(version.created_at),
    )
