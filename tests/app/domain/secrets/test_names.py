import pytest

from app.kit.secrets import SecretNameClass, _secret_name_class, secret_name_class


@pytest.mark.parametrize(
    "name",
    [
        "headers", "Headers", "extra_headers", "header", "authorization", "Authorization",
        "api_key", "apiKey", "Api_Key", "API-KEY", "apikey", "x-api-key", "XApiKey", "APIKey",
        "token", "accessToken", "ACCESS_TOKEN", "accesstoken", "auth_tokens", "token_value",
        "secret", "clientSecret", "client_secret_2", "password", "db.password", "passwd",
        "Cookie", "set-cookie", "credentials", "awsCredentials", "auth", "auth_type", "bearer",
        "bearerToken", "privateKey", "private_key_pem", "ssh_key", "secretkey", "signing_key",
        "session token", "ｔｏｋｅｎ", "jwt", "oauth", "basicAuth",
    ],
)  # fmt: skip
def test_a_credential_is_recognised_in_any_spelling(name: str) -> None:
    assert secret_name_class(name) is SecretNameClass.ALL


@pytest.mark.parametrize(
    "name",
    [
        "github_token_prod", "HF_TOKEN_RO", "tokenId", "x-functions-key", "OPENAI_KEY", "openaikey",
        "sshkey", "masterkey", "pass", "db_pass", "user_pass", "userpass", "db_pw", "signature",
        "sig", "sas", "X-Amz-Signature", "dsn", "connection_string", "connectionString",
        "session_id", "pat", "pin", "passwort",
        "арi_key", "TОKЕN", "τοkеn_x", "to\u200bken", "tok\u00aden_x",
    ],
)  # fmt: skip
def test_texts_under_a_likely_name_are_secrets(name: str) -> None:
    assert secret_name_class(name) >= SecretNameClass.TEXTS


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens", "max_completions_tokens", "completion_tokens", "token_penalty", "key",
        "token_growth", "token_budget", "tokens_per_step", "pass_threshold", "keys", "primary_key",
    ],
)  # fmt: skip
def test_numbers_under_a_doubtful_name_stay(name: str) -> None:
    assert secret_name_class(name) < SecretNameClass.ALL


@pytest.mark.parametrize(
    "name",
    [
        "", "tokenizer", "author", "authors", "keyword", "passage", "path", "pattern", "design",
        "spin", "mapping", "server_url", "timeout_class", "description", "compute", "count", "123",
        "_", "name", "query", "type", "region",
    ],
)  # fmt: skip
def test_other_names_are_left_alone(name: str) -> None:
    assert secret_name_class(name) is SecretNameClass.NOTHING


def test_a_name_too_long_is_a_credential_and_is_not_kept() -> None:
    before = _secret_name_class.cache_info()
    for number in range(20):
        assert secret_name_class(f"{number}" + "x" * 3_000_000) is SecretNameClass.ALL
    assert _secret_name_class.cache_info() == before
    assert secret_name_class("x" * 512) is SecretNameClass.NOTHING


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tokens", SecretNameClass.TEXTS),
        ("api_tokens", SecretNameClass.ALL),
        ("secretary", SecretNameClass.NOTHING),
        ("secretariat", SecretNameClass.NOTHING),
        ("secretary_secret", SecretNameClass.ALL),
    ],
)
def test_counts_and_offices_differ_from_credentials(name: str, kind: SecretNameClass) -> None:
    assert secret_name_class(name) is kind
