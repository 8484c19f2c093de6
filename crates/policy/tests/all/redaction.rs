//! What is taken out of texts, and what is not.

use proptest::prelude::*;
use roost_policy::{REDACTED, is_secret_name, redact, redact_json};
use serde_json::json;

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

/// Texts in which `{}` stands for a secret that must go, and the secret.
fn secrets() -> Vec<(&'static str, &'static str)> {
    vec![
        ("Authorization: {}", "Bearer abcdefghijklmnop"),
        ("authorization: {}\nAccept: x", "Basic dXNlcjpwYXNz"),
        ("curl -H 'Authorization: {}' x", "token abc"),
        ("sent Bearer {} to it", "abc123def456ghi789"),
        ("bearer {}", "AbCdEfGhIjKlMnOpQrSt"),
        ("Cookie: {}", "session=abc; other=def"),
        ("Set-Cookie: {}", "id=1; Path=/"),
        ("X-Api-Key: {}", "abcdef123456"),
        (r#"{"access_token":"{}"}"#, "abc"),
        (r#"{"access_token" : "{}", "a": 1}"#, "a b c"),
        (r#"{"refresh_token":"{}"}"#, r#"a\"b"#),
        (r#"{"id_token":"{}"}"#, r"a\\"),
        (r#"{\"access_token\":\"{}\"}"#, "abc"),
        (r#"{\\\"client_secret\\\":\\\"{}\\\"}"#, "abc"),
        (r#"{"password": {}}"#, "12345"),
        ("https://x.org/cb?access_token={}&state=1", "abc"),
        ("https://x.org/cb?code=1&refresh_token={}", "abc"),
        ("https://{}@example.org/x", "me:hunter2"),
        ("postgres://{}@db/x", "me:p@ss:word"),
        ("redis://{}@cache", ":hunter2"),
        ("https://{}@github.com", "ghp_abcdefghijklmnopqrstuvwxyz0123456789:x"),
        ("{}", "sk-abcdefghijklmnopqrstuvwxyz012345"),
        ("key {}.", "sk-proj-abcdefghijklmnop"),
        ("key={}", "sk-ant-api03-abcdefghijklmnop"),
        ("{}", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("{}", "gho_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("{}", "github_pat_11ABCDEFG0abcdefghijkl_mnop"),
        ("https://{}@github.com/x", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("{}", "glpat-abcdefghij0123456789"),
        ("{}", "xoxb-123456789012-abcdefghijkl"),
        ("{}", "xoxp-123456789012-abcdefghijkl"),
        ("id {} x", "AKIAIOSFODNN7EXAMPLE"),
        ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("{}", "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234"),
        ("({})", JWT),
        ("a\n{}\nb", "-----BEGIN RSA PRIVATE KEY-----\nMIIE/+=\nabc\n-----END RSA PRIVATE KEY-----"),
        (r#"{"k":"{}"}"#, r"-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----"),
        ("{}", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\ncut"),
        ("{}", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nabc=\n-----END PGP PRIVATE KEY BLOCK-----"),
        ("API_KEY={}", "abc"),
        ("export GITHUB_TOKEN={} x", "abc"),
        ("DB_PASS='{}'", "it is"),
        ("db-password: {}", "hunter2"),
        ("password = \"{}\"", "hunter"),
        ("token := \"{}\"", "hunter"),
        ("client_secret={}", "abc"),
        ("apiKey: '{}'", "abc"),
        ("PRIVATE_KEY={}", "abc"),
    ]
}

#[test]
fn secrets_are_taken_out_and_nothing_else_is() {
    for (text, secret) in secrets() {
        assert_eq!(redact(&text.replacen("{}", secret, 1)), text.replacen("{}", REDACTED, 1), "{text} {secret}");
    }
}

#[test]
fn ordinary_text_is_not_touched() {
    let cases = [
        "",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit 59807616e1fa2540724bfbac14d7976d7e4a3860",
        "01a1ddfc-edca-72c3-9348-ce15da9262a8",
        "task_0195f3c2a8b67d4e9f10a2b3c4d5e6f7 tc_0195f3c2a8b67d4e9f10a2b3c4d5e6f7",
        "/home/me/src/task-0123456789abcdef0123/disk-0123456789abcdef0123.rs",
        "pip install sk-learn && import sk-some-long-css-class-name",
        "max_tokens=4096 input_tokens: 1234567 \"output_tokens\": 99, token_count=5 total_tokens=7",
        "{\"tool_call_id\":\"tc_1\",\"input_hash\":\"sha256:ab\",\"max_tokens\":1,\"token_type\":\"bearer\"}",
        "Bearer authentication, the bearer token, a token, the secret is out",
        "password: string; token: Token, secret: String",
        "let token = lexer.next(); let token = tokens[0]; if token == other {}",
        "token: null, password=None secret=false",
        "password=$DB_PASS token=${TOKEN} secret=$(cat x) api_key=%s password=***",
        "unexpected token: 12 at line 3; error: password::new() failed",
        "PWD=/home/me OLDPWD=/ pass: 12 fail: 0 bypass=1 compass=north",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE----- -----BEGIN PUBLIC KEY-----",
        "http://localhost:8080/a@b http://host:3000?x=a@b git@github.com:me/x.git me@example.org",
        "authorization_endpoint=https://x.org token_url=https://x.org/token secret_name=db password_file=/run/x",
        "eyJ is how a JWT begins; AKIA alone; ghp_ alone; AIza",
        "fn is_secret_name(name: &str) -> bool",
        "漢字: token 漢字=1",
    ];
    for text in cases {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn names_are_secret_in_any_spelling() {
    let secret = [
        "password",
        "Password",
        "user_password",
        "passwd",
        "secret",
        "SECRET_KEY",
        "client-secret",
        "clientSecret",
        "token",
        "access_token",
        "accessToken",
        "ACCESS-TOKEN",
        "refresh_token",
        "id_token",
        "api_key",
        "apiKey",
        "apikey",
        "X-API-KEY",
        "authorization",
        "Proxy-Authorization",
        "private_key",
        "privateKey",
        "cookie",
        "Set-Cookie",
        "cookies",
        "credentials",
        "aws_secret_access_key",
        "DB_PASS",
        "db.pwd",
        "passphrase",
    ];
    for name in secret {
        assert!(is_secret_name(name), "{name}");
    }
    let harmless = [
        "max_tokens",
        "maxTokens",
        "input_tokens",
        "output_tokens",
        "token_count",
        "tokenCount",
        "tool_call_id",
        "input_hash",
        "token_type",
        "tokenizer",
        "author",
        "key",
        "keys",
        "monkey",
        "pass",
        "PWD",
        "session_id",
        "bearer_token_env_var",
        "token_limit",
        "progressToken",
        "secret_name",
        "",
        "name",
    ];
    for name in harmless {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn json_is_redacted_by_name_and_by_shape_and_keeps_its_form() {
    let value = json!({
        "password": "x", "token": 5, "cookies": ["a", { "b": "c" }], "secret": null, "apiKey": true, "passphrase": "",
        "max_tokens": 10, "input_hash": "sha256:ab", "text": "use sk-proj-abcdefghijklmnop now",
        "nested": [{ "Authorization": "Bearer x" }], "headers": [{ "name": "X-Api-Key", "value": "abc" }, { "name": "Accept", "value": "b" }],
        "inner": "{\"access_token\":\"abc\"}", "ghp_abcdefghijklmnopqrstuvwxyz0123456789": 1
    });
    let expected = json!({
        "password": REDACTED, "token": REDACTED, "cookies": [REDACTED, { "b": REDACTED }], "secret": null, "apiKey": true, "passphrase": "",
        "max_tokens": 10, "input_hash": "sha256:ab", "text": "use [redacted] now",
        "nested": [{ "Authorization": REDACTED }], "headers": [{ "name": "X-Api-Key", "value": REDACTED }, { "name": "Accept", "value": "b" }],
        "inner": "{\"access_token\":\"[redacted]\"}", "[redacted]": 1
    });
    assert_eq!(redact_json(&value), expected);
    assert_eq!(redact_json(&expected), expected);
}

/// A text that would take hours if any part of it were read once for every other part.
#[test]
fn large_texts_are_read_once() {
    let pieces = [
        "token:",
        "token: ",
        "password=",
        "\"token\":",
        "-----BEGIN PRIVATE KEY-----.",
        "eyJ",
        "eyJaaaaaaaa.",
        "://a:",
        "://",
        "Bearer ",
        "sk-",
        "\\\"token\\\":\\\"",
        "a",
        " ",
        "\"",
        "\\",
        ":",
        "=",
        "token:\n",
        "authorization: ",
        "password:a",
    ];
    for piece in pieces {
        let text = piece.repeat(200_000 / piece.len());
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "{piece}");
    }
}

/// Text made of what secrets are made of.
fn secret_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "token",
        "password",
        "authorization",
        "cookie",
        "API_KEY",
        ":",
        "=",
        ": ",
        " = ",
        ":=",
        "\"",
        "'",
        "\\",
        "\\\"",
        "\n",
        " ",
        ";",
        ",",
        "[",
        "]",
        "{",
        "}",
        "@",
        "/",
        "://",
        "Bearer ",
        "sk-",
        "sk-proj-",
        "ghp_",
        "abcdefghijklmnop0123456789",
        "a1b2c3",
        "x",
        "eyJhbGciOiJI",
        ".",
        "eyJzdWIiOiIx",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "[redacted]",
        "&",
        "?",
        "$",
        "null",
        "AKIAIOSFODNN7EXAMPLE",
        "é",
        "_",
        "-",
    ]);
    prop::collection::vec(pieces, 0..25).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn redacting_twice_is_redacting_once(text in secret_like(), any in any::<String>()) {
        for text in [text, any] {
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once), once.clone(), "{:?}", text);
        }
    }

    #[test]
    fn a_secret_goes_whatever_stands_around_it(before in "[ -~\n]{0,20}", after in "[ -~\n]{0,20}") {
        let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        let text = format!("{before} {secret} {after}");
        prop_assert!(!redact(&text).contains(secret), "{}", text);
    }
}

#[test]
fn in_settings_variables_and_headers_are_secrets_whatever_they_are_called() {
    let settings = json!({
        "model": "m",
        "env": { "GREETING": "hello" },
        "mcp_servers.a.env": { "B": "hello" },
        "servers": [{ "url": "http://x", "headers": { "x-colour": "blue" } }],
        "provider": { "name": "local", "options": { "apiKey": "k", "baseURL": "http://127.0.0.1:1" } },
    });
    let clean = json!({
        "model": "m",
        "env": { "GREETING": REDACTED },
        "mcp_servers.a.env": { "B": REDACTED },
        "servers": [{ "url": "http://x", "headers": { "x-colour": REDACTED } }],
        "provider": { "name": "local", "options": { "apiKey": REDACTED, "baseURL": "http://127.0.0.1:1" } },
    });
    assert_eq!(json!(roost_policy::redact_settings(settings.as_object().unwrap())), clean);
}
