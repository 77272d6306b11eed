"""`regex`: a regular expression that the text must match, in bounded time."""

from typing import Literal, Self

from pydantic import Field, ValidationInfo, model_validator

from app.domain.graders.definition_work import DefinitionWork, TooMuchToRead
from app.domain.graders.grader_model import ANSWER, Flag, UnitGrader, fault_at
from app.domain.graders.judge_prompts import TemplateText
from app.domain.graders.schemas.json_schemas import (
    MAX_COMPILED_BYTES,
    MAX_PATTERN,
    JsonSchemaFault,
    compile_pattern,
)
from app.domain.graders.templates.plain_texts import placeholder_in


class RegexGrader(UnitGrader):
    """1 when the text matches the expression, else 0."""

    type: Literal["regex"]
    name: str = Field(default="regex", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    pattern: str = Field(min_length=1, max_length=MAX_PATTERN)
    """The expression, in the syntax of Rust's `regex` without look-around and back-references;
    `\\d` and `\\w` are ASCII, as in JavaScript. Not a template.
    """
    whole: Flag = False
    """True: the whole text must match, not only a part of it."""
    ignore_case: Flag = False
    """True ignores case."""

    @model_validator(mode="after")
    def _compiles(self, info: ValidationInfo) -> Self:
        work = DefinitionWork.of(info)
        try:
            work.check_patterns()
            compiled = compile_pattern(self.pattern, whole=self.whole, ignore_case=self.ignore_case)
            work.count_pattern_bytes(compiled.size)
        except TooMuchToRead as much:
            raise fault_at("pattern", str(much)) from None
        except JsonSchemaFault as fault:
            # Both forms, and the one that finds the fault, may have reached the limit.
            work.count_faulty_pattern(3 * MAX_COMPILED_BYTES)
            found = placeholder_in(self.pattern)
            cause = (
                f"'{found}' is not filled, because the pattern is not a template: a grader of type "
            )
            cure = "'contains' or 'string_check' compares with a value of the row"
            raise fault_at("pattern", f"{cause}{cure}" if found else str(fault)) from None
        return self
