from typing import Literal

SkillStatus = Literal['held', 'passed', 'running']

SKILL_STATUS_VALUES: set[SkillStatus] = { 'held', 'passed', 'running',  }

def check_skill_status(value: str) -> SkillStatus:
    if value in SKILL_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SKILL_STATUS_VALUES!r}")
