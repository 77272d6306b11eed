import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.models.models import BaseModelSpec
from app.settings import (
    Settings,
    inherited_environment,
    to_environment,
)
from tests.support.cases import cases

_URL = "postgresql+psycopg://agent_rft_app:p@127.0.0.1:5432/agent_rft"
_SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "AGENT_RFT_CONFIG",
        "AGENT_RFT_DATABASE_URL",
        "AGENT_RFT_REDIS_URL",
        "AGENT_RFT_SECRET_KEY",
        "AGENT_RFT_LEASE__LEASE_S",
    ):
        monkeypatch.delenv(name, raising=False)


def _settings(**changes: object) -> Settings:
    return Settings(**{"database_url": _URL, "secret_key": _SECRET, **changes})  # type: ignore[arg-type]  # mypy cannot match a dict to the fields


def test_a_child_process_reads_back_an_equal_tree(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = _settings(
        data_dir=tmp_path,
        egress={"allow_endpoints": ["127.0.0.1:9000", "[::1]:9001"], "allow_plain_http": True},
        lease={"lease_s": 8.5},
        base_models=[
            BaseModelSpec(name="m-2026-01-01", path="/models/m", context_length=4096),
            BaseModelSpec(
                name="n-2026-01-01",
                aliases=("n", "nn"),
                path="org/n",
                context_length=128,
                chat_template=Path("/models/n.jinja"),
            ),
        ],
    )
    for name, value in to_environment(given).items():
        monkeypatch.setenv(name, value)
    assert Settings() == given


def test_argument_beats_variable_beats_file_beats_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "agent-rft.toml"
    config.write_text(
        'redis_url = "redis://file/0"\nengine_url = "http://file"\n'
        "[lease]\nlease_s = 11\nmax_attempts = 2\n"
    )
    monkeypatch.setenv("AGENT_RFT_CONFIG", str(config))
    monkeypatch.setenv("AGENT_RFT_LEASE__LEASE_S", "12")
    monkeypatch.setenv("AGENT_RFT_REDIS_URL", "redis://variable/0")
    settings = _settings(redis_url="redis://argument/0")
    assert settings.redis_url == "redis://argument/0"
    assert settings.engine_url == "http://file"
    assert (settings.lease.lease_s, settings.lease.max_attempts) == (12, 2)
    assert settings.lease.sweep_interval_s == 5
    assert settings.lease.heartbeat_s == 3


def test_every_missing_variable_is_named() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings()
    missing = {error["loc"] for error in caught.value.errors() if error["type"] == "missing"}
    assert missing == {("database_url",), ("secret_key",)}


@cases(
    ("change", "words"),
    [
        ({"database_url": "postgresql://u:p@h/d"}, "postgresql+psycopg://"),
        ({"secret_key": "short"}, "at least 32 bytes"),
        ({"egress": {"allow_endpoints": ["http://127.0.0.1:9000"]}}, "HOST:PORT"),
        ({"egress": {"allow_endpoints": ["127.0.0.1:70000"]}}, "HOST:PORT"),
        ({"base_models": []}, "at least 1 item"),
        ({"lease": {"leese_s": 3}}, "Extra inputs"),
    ],
)
def test_the_error_of_a_wrong_value_names_the_expected_one(
    change: dict[str, object], words: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _settings(**change)
    assert words in str(caught.value)


def test_secrets_and_passwords_are_not_shown() -> None:
    settings = _settings(engine_api_key="engine-secret", redis_url="redis://:hidden@h/0")
    shown = repr(settings) + str(settings)
    for secret in (_SECRET, "engine-secret", "hidden", ":p@"):
        assert secret not in shown


def test_derived_keys_differ_by_purpose_and_by_secret() -> None:
    first, second = _settings(), _settings(secret_key=_SECRET[::-1])
    derived = {
        key
        for settings in (first, second)
        for key in (settings.key_hmac, settings.derive_key("another/v1"))
    }
    assert len(derived) == 4
    assert {len(key) for key in derived} == {32}
    assert _settings().key_hmac == first.key_hmac


def test_key_derivation_is_the_one_of_rfc_5869() -> None:
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415 - used by this test alone
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415 - used by this test alone

    reference = HKDF(SHA256(), length=32, salt=None, info=b"agent-rft/api-key-hmac/v1")
    assert _settings().key_hmac == reference.derive(_SECRET.encode())


def test_children_inherit_no_locale_and_none_of_our_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "xx_YY.missing")
    monkeypatch.setenv("LANG", "xx_YY")
    monkeypatch.setenv("AGENT_RFT_SECRET_KEY", _SECRET)
    monkeypatch.setenv("KEPT", "yes")
    environment = inherited_environment()
    assert environment["KEPT"] == "yes"
    assert not {"LC_ALL", "LANG", "AGENT_RFT_SECRET_KEY"} & environment.keys()


def test_the_shipped_model_is_found_without_importing_the_gpu_plane() -> None:
    program = (
        "import sys; from app.settings import shipped_models; (model,) = shipped_models();"
        "assert model.answers_to('tiny-agent'); assert 'workers' not in sys.modules;"
        "assert 'torch' not in sys.modules; print(model.path)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("workers/base_models/tiny_agent")
