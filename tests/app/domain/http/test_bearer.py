from app.kit.http import has_key
from tests.support.cases import cases

KEY = "sk-\u00e9-key"


@cases("header", [f"Bearer {KEY}", f"bearer {KEY}", f"Bearer  {KEY} "])
def test_the_scheme_has_no_case_and_spaces_do_not_count(header: str) -> None:
    assert has_key(header, KEY)


@cases("header", [None, "", KEY, f"Basic {KEY}", f"Bearer {KEY}x", "Bearer", "Bearer \udcff"])
def test_all_else_is_refused_and_raises_nothing(header: str | None) -> None:
    assert not has_key(header, KEY)


@cases("header", [None, "", "Bearer", "Bearer ", "Bearer  "])
def test_no_header_has_an_empty_key(header: str | None) -> None:
    assert not has_key(header, "")
