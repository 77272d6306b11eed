from typing import Literal

DeliveryError = Literal['bad_encoding', 'endpoint_disabled', 'internal_error', 'refused', 'secret_unreadable', 'timeout', 'too_large', 'unreachable', 'url_lost']

DELIVERY_ERROR_VALUES: set[DeliveryError] = { 'bad_encoding', 'endpoint_disabled', 'internal_error', 'refused', 'secret_unreadable', 'timeout', 'too_large', 'unreachable', 'url_lost',  }

def check_delivery_error(value: str) -> DeliveryError:
    if value in DELIVERY_ERROR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DELIVERY_ERROR_VALUES!r}")
