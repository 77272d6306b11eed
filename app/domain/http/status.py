"""Classes of HTTP status codes, for replies of customers' endpoints, judges and this API."""

from http import HTTPStatus


def is_success(status: int) -> bool:
    """Returns whether a status is 2xx."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def is_error(status: int) -> bool:
    """Returns whether a status is 4xx or 5xx."""
    return status >= HTTPStatus.BAD_REQUEST


def is_client_error(status: int) -> bool:
    """Returns whether a status is 4xx."""
    return HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR


def is_server_error(status: int) -> bool:
    """Returns whether a status is 5xx."""
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR
