"""Checks the file that holds the items of eval runs."""

from typing import Final

from app.domain.errors import InvalidRequest, NotFound
from app.store.unit_of_work import UnitOfWork

FILE_PURPOSES: Final = ("evals", "fine-tune")


async def check_item_file(unit: UnitOfWork, file_id: str, param: str) -> None:
    """Raises `InvalidRequest` at `param` for a file that the project lacks, or that has another
    purpose.
    """
    try:
        row = await unit.files.get(file_id)
    except NotFound as error:
        raise InvalidRequest(
            f"File {file_id} does not exist.", param=param, code="file_not_found"
        ) from error
    if row.purpose not in FILE_PURPOSES:
        raise InvalidRequest(
            f"File {file_id} has purpose '{row.purpose}', but must have one of "
            f"{list(FILE_PURPOSES)}.",
            param=param,
            code="invalid_value",
        )
