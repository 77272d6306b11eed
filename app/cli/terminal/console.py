"""Terminal output shared by all commands: one line for each error."""

from pydantic import ValidationError


def describe(error: ValidationError) -> str:
    """Returns one line per invalid setting, with the name of its environment variable."""
    lines = [
        f"AGENT_RFT_{'__'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
        if item["type"] != "default_factory_not_called"  # follows from another line
    ]
    return "\n".join(lines)
