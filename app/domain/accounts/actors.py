"""The actor of a request: the key, session or command that changes something, and its address."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal

ActorKind = Literal["api_key", "session", "command_line"]


@dataclass(frozen=True, slots=True)
class Actor:
    kind: ActorKind
    id: str
    """Id of the API key, of a session that of its key; empty while it is not known."""
    address: str = ""
    """The client's address as the service sees it."""

    @property
    def text(self) -> str:
        """Returns kind, id and address, separated by spaces. A text that is not an IP address is
        left out: a header of the client may have named it.
        """
        return " ".join((self.kind, self.id, _ip_address(self.address)))


def _ip_address(sent: str) -> str:
    try:
        return str(ip_address(sent.partition("%")[0]))
    except ValueError:
        return ""


COMMAND_LINE: Final = Actor("command_line", "")
"""A command of the operator, on the machine of the service."""
