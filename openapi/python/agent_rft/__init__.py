"""A client of agent-rft. `agent_rft_client` holds every call and model; this is how to use them."""

from agent_rft.client import AgentRFT
from agent_rft.errors import (
    APIError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailed,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
)

__all__ = [
    "APIError",
    "AgentRFT",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionFailed",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
]
