import pytest

from app.domain.secrets.names import is_credential_name


@pytest.mark.parametrize(
    "name",
    [
        "headers", "Headers", "extra_headers", "header", "authorization", "Authorization",
        "api_key", "apiKey", "Api_Key", "API-KEY", "apikey", "x-api-key", "XApiKey", "APIKey",
        "token", "accessToken", "ACCESS_TOKEN", "accesstoken", "auth_tokens", "token_value",
        "tokens", "secret", "clientSecret", "client_secret_2", "password", "db.password", "passwd",
        "Cookie", "set-cookie", "credentials", "awsCredentials", "auth", "auth_type", "bearer",
        "bearerToken", "privateKey", "private_key_pem", "ssh_key", "secretkey", "signing_key",
        "session token", "ｔｏｋｅｎ", "jwt", "oauth", "basicAuth",
    ],
)  # fmt: skip
def test_a_credential_is_recognised_in_any_spelling(name: str) -> None:
    assert is_credential_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "", "max_tokens", "max_completions_tokens", "completion_tokens", "token_penalty",
        "token_growth", "tokenizer", "token_budget", "tokens_per_step", "author", "authors", "key",
        "keys", "keyword", "primary_key", "passage", "pass_threshold", "path", "server_url",
        "timeout_class", "description", "secretary_count"[9:], "count", "123", "_",
    ],
)  # fmt: skip
def test_other_names_are_left_alone(name: str) -> None:
    assert not is_credential_name(name)
