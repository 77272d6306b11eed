"""Keys of a request's state, in which middleware and dependencies of routes pass on values."""

from typing import Final

REPLY_HEADERS: Final = "reply_headers"
"""Headers of the reply, in success and failure."""
HELD: Final = "held"
"""An `ExitStack` of the resources that the request (a stream included) holds until its reply is
sent or its client has disconnected.
"""
PRINCIPAL: Final = "principal"
"""The principal, when the caller was checked before the route."""
STORED_RESPONSE: Final = "idempotency"
"""The guard of the request's `Idempotency-Key`, on routes that take a form."""
ROUTED: Final = "routed"
"""The route that answered, once it has."""
