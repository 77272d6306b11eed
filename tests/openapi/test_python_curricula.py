"""Curricula of the Python client that are made from sources, over real sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_rft import AgentRFT, BadRequestError, Curriculum
from tests.support.contract.service import Service, running_service
from tests.support.stack import Services

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima".split()  # noqa: SIM905 - one word after the other
TABLE = "question;gold\n" + "".join(f"Where is {word}?;{n}\n" for n, word in enumerate(WORDS))


@pytest.fixture(scope="module")
def service(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(services, tmp_path_factory.mktemp("contract")) as running:
        yield running


@pytest.fixture
def client(service: Service) -> Iterator[AgentRFT]:
    with AgentRFT(service.api.base_url, service.api.key) as made:
        yield made


def test_a_curriculum_is_made_from_a_table_and_from_another_one(
    client: AgentRFT, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(TABLE)
    preview = Curriculum.preview(table, client=client)
    (file,) = preview.files
    assert (file.delimiter, preview.rows, preview.usable) == (";", 12, True)
    assert file.columns is not None
    assert file.columns.prompt == "question"
    first = Curriculum.gather("first", table, client=client)
    rows = [{"prompt": f"Who lives in {word}?"} for word in WORDS]
    options = {"split": {"validation_share": 0.5}}
    second = Curriculum.gather("second", first, rows, client=client, **options)
    assert (first.body.training_rows, second.body.training_rows) == (12, 12)
    assert second.body.validation_rows == 12
    with pytest.raises(ValueError, match="no file that can be uploaded"):
        Curriculum.gather("third", "/dev/zero", client=client)
    with pytest.raises(BadRequestError, match="no column is named like 'prompt'"):
        Curriculum.gather("third", [{"colour": "red"}], client=client)
