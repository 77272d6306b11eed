"""Which of the installed databases and brokers is started."""

from pathlib import Path

import pytest

from app.local import servers
from app.local.servers import PostgresBinaries, ValkeyServer, find_postgres, find_valkey


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Versions by the name of their directory: one on the PATH, the wheel's, the system's."""
    majors = {"path": 17, "wheel": 18, "system": 16}
    (tmp_path / "path").mkdir()
    for name in ("postgres", "valkey-server"):
        (tmp_path / "path" / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    wheel, system = tmp_path / "wheel", tmp_path / "system"
    monkeypatch.setattr(servers, "_wheel_and_system_directories", lambda: [wheel, system])

    def found(directory: Path) -> PostgresBinaries | None:
        return PostgresBinaries(directory, majors[directory.name])

    monkeypatch.setattr(servers, "_postgres_in", found)
    return majors


def test_postgres_on_the_path_comes_first_unless_it_is_old(installed: dict[str, int]) -> None:
    assert find_postgres().directory.name == "path"
    installed["path"] = 15
    assert find_postgres().directory.name == "wheel"


@pytest.mark.parametrize(("major", "name"), [("18", "wheel"), ("16", "system"), ("14", "path")])
def test_a_cluster_has_the_version_that_made_it(
    installed: dict[str, int], tmp_path: Path, major: str, name: str
) -> None:
    del installed
    (tmp_path / "PG_VERSION").write_text(f"{major}\n")
    assert find_postgres(cluster=tmp_path).directory.name == name


def test_another_broker_does_not_read_the_files_of_the_last(
    installed: dict[str, int], tmp_path: Path
) -> None:
    del installed
    assert find_valkey() == tmp_path / "path" / "valkey-server"
    log = tmp_path / "broker" / "appendonlydir"
    for number, name in enumerate(("a", "a", "b")):
        ValkeyServer(Path(name), tmp_path / "broker", 1, "p").prepare()
        assert log.exists() == (number == 1)
        log.mkdir(exist_ok=True)
