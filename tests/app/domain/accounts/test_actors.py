"""The address of an actor is one, or absent."""

from app.kit.callers import Actor
from tests.support.cases import cases


@cases(
    ("sent", "kept"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:DB8::1", "2001:db8::1"),
        ("fe80::1%eth0 by me", "fe80::1"),
        ("192.0.2.7 key_admin", ""),
        ("the CEO", ""),
        ("", ""),
    ],
)
def test_only_an_ip_address_is_written(sent: str, kept: str) -> None:
    assert Actor("api_key", "key_1", sent).text == f"api_key key_1 {kept}"
