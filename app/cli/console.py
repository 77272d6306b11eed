"""Terminal output shared by all commands: one line for each error."""

from pydantic import ValidationError


def describe(wrong: ValidationError) -> str:
    """Each wrong setting by the name of its variable."""
    lines = [
        f"AGENT_RFT_{'__'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in wrong.errors(include_url=False, include_input=False)
        if item["type"] != "default_factory_not_called"  # follows from another line
    ]
    return "\n".join(lines)
