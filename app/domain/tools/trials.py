"""A trial call of a tool, with the tool's address; missing ids are generated."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from app.domain.ids import new_id
from app.domain.tools.tools import ToolSpec


def new_trace_id() -> str:
    """Returns a trace id in the form of a rollout's."""
    return f"trace_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrial:
    tool: ToolSpec = field(repr=False)
    arguments: str
    """JSON text; it is not checked."""
    item: dict[str, Any] = field(default_factory=dict)
    trace_id: str = field(default_factory=new_trace_id)
    call_id: str = field(default_factory=lambda: new_id("call_"))
    function_call_id: str = field(default_factory=lambda: new_id("fc_"))
