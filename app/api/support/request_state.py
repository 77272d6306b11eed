"""Keys of a request's state, by which middleware and dependencies of routes hand values on."""

from typing import Final

REPLY_HEADERS: Final = "reply_headers"
"""Headers of the reply, in success and failure."""
HELD: Final = "held"
"""An `ExitStack` of what the request holds until its reply is sent or its client is gone. Streams
are included.
"""
PRINCIPAL: Final = "principal"
"""The principal, when the caller was checked before the route."""
STORED_RESPONSE: Final = "idempotency"
"""The guard of the request's `Idempotency-Key`, on routes that take a form."""
ROUTED: Final = "routed"
"""The route that answered, once it has."""
