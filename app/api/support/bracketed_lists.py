"""Reads `name[]=value` in a query as `name=value`: the official client writes lists so, and the
hosted specification of usage names them without brackets.
"""

import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute
from typing_extensions import override

_BRACKETS: Final = re.compile(rb"(^|&)([^=&]+?)(?:\[\]|%5B%5D)(?==)", re.IGNORECASE)


class BracketedLists(APIRoute):
    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def with_plain_names(request: Request) -> Response:
            query = _BRACKETS.sub(rb"\1\2", request.scope["query_string"])
            return await handle(Request({**request.scope, "query_string": query}, request.receive))

        return with_plain_names
