"""`json_valid`: the text is JSON, and valid by a schema if there is one."""

from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from app.domain.graders.definition_work import (
    BYTES_OF_A_CHECK,
    DefinitionWork,
    TooMuchToRead,
)
from app.domain.graders.grader_model import ANSWER, Flag, UnitGrader
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.schemas.json_schemas import JsonSchemaFault, compile_schema
from app.domain.graders.schemas.schema_costs import MAX_PATTERN_BYTES


class JsonValidGrader(UnitGrader):
    """1 when the text is JSON, and valid by the schema if there is one, else 0."""

    type: Literal["json_valid"]
    name: str = Field(default="json_valid", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the value; its `$ref` must refer to parts of itself, because nothing
    is fetched.
    """
    fenced: Flag = False
    """True: the JSON may be in the only Markdown block of the text instead."""

    @field_validator("json_schema")
    @classmethod
    def _compiles(
        cls, schema: dict[str, Any] | None, info: ValidationInfo
    ) -> dict[str, Any] | None:
        work = DefinitionWork.of(info)
        if schema is not None:
            try:
                work.check_patterns()
                cost = compile_schema(schema).cost
                work.count_pattern_bytes(cost.pattern_bytes + cost.checks * BYTES_OF_A_CHECK)
            except TooMuchToRead as much:
                raise _fault(much) from None
            except JsonSchemaFault as fault:
                work.count_faulty_pattern(MAX_PATTERN_BYTES)  # its patterns may have reached it
                raise _fault(fault) from None
        return schema


def _fault(cause: Exception) -> PydanticCustomError:
    return PydanticCustomError("schema_error", "{fault}", {"fault": str(cause)})
