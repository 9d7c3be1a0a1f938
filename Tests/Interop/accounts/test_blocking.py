"""Blocking functions, served by Google's functions framework."""

import base64
import json

import pytest
import requests

from accounts.conftest import Client
from conftest import Server
from functions_host import Functions, free_port

CONFIG = "/identitytoolkit.googleapis.com/v2/projects/interop/config?updateMask=blockingFunctions"
OWNER = {"Authorization": "Bearer owner"}


def registered(server, urls):
    """Registers functions as Firebase's tools do."""
    body = {"blockingFunctions": {
        "triggers": {moment: {"functionUri": url} for moment, url in urls.items()},
        "forwardInboundCredentials": {"idToken": True, "accessToken": False}}}
    answer = requests.patch(
        f"http://127.0.0.1:{server.accounts_port}{CONFIG}", json=body, headers=OWNER, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def functions(tmp_path):
    functions = Functions(tmp_path, "before_create", "before_sign_in")
    yield functions
    functions.kill()


@pytest.fixture
def server(tmp_path, functions, monkeypatch):
    server = Server(tmp_path, 0)
    # The functions accept unsigned tokens only beside an emulator.
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", f"127.0.0.1:{server.accounts_port}")
    functions.start(server.host)
    registered(server, {
        "beforeCreate": f"http://127.0.0.1:{functions.port}/before_create",
        "beforeSignIn": f"http://127.0.0.1:{functions.port}/before_sign_in"})
    yield server
    server.stop()


@pytest.fixture
def client(server):
    return Client(server, project="interop")


def said(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def people(client, server):
    answer = client.session.post(
        f"{client.base}/identitytoolkit.googleapis.com/v1/projects/interop/accounts:query",
        json={}, headers=OWNER, timeout=30)
    return answer.json().get("userInfo", [])


def test_functions_change_an_account_and_its_tokens(client, functions):
    session = client.call("signUp", email="ann@example.com", password="secret-1")
    claims = said(session["idToken"])
    assert claims["name"] == "Checked" and claims["role"] == "guest"
    assert claims["visit"] == "guest-1"
    first, second = functions.told()
    assert (first["name"], second["name"]) == ("before_create", "before_sign_in")
    assert first["uid"] == second["uid"] == session["localId"] == claims["sub"]
    assert first["email"] == "ann@example.com" and first["display"] is None
    assert first["new"] and not second["new"] and second["display"] == "Checked"
    assert first["provider"] == "password" and second["providers"] == ["password"]
    assert second["claims"] == {"role": "guest"} and first["address"] == "127.0.0.1"
    assert "python-requests" in first["agent"] and first["id"] != second["id"]
    # A later sign-in asks the second function alone. The refreshed token keeps its claims.
    again = client.call("signInWithPassword", email="ann@example.com", password="secret-1")
    assert [line["name"] for line in functions.told()[2:]] == ["before_sign_in"]
    renewed = said(client.refresh(again["refreshToken"]).json()["id_token"])
    assert renewed["visit"] == "guest-1" and renewed["role"] == "guest"


def test_a_function_refuses_an_account(client, server, functions):
    answer = client.try_call("signUp", email="eve@refused.example", password="secret-1")
    message = answer.json()["error"]["message"]
    assert answer.status_code == 400
    assert message.startswith("BLOCKING_FUNCTION_ERROR_RESPONSE : ((HTTP request to ")
    assert "This address is not allowed." in message and "PERMISSION_DENIED" in message
    assert people(client, server) == [] and len(functions.told()) == 1


def test_a_function_disables_an_account(client, server, functions):
    assert client.refusal(
        "signUp", email="disabled@example.com", password="secret-1") == "USER_DISABLED"
    account, = people(client, server)
    assert account["disabled"] is True and account["displayName"] == "Checked"
    assert [line["name"] for line in functions.told()] == ["before_create"]


def test_a_provider_and_its_token(client, functions):
    identity = {"sub": "g-1", "email": "gus@example.com", "email_verified": True}
    session = client.call(
        "signInWithIdp", requestUri="http://localhost", returnSecureToken=True,
        postBody=f"id_token={json.dumps(identity)}&providerId=google.com")
    assert said(session["idToken"])["visit"] == "guest-1"
    for line in functions.told():
        assert line["provider"] == "google.com" and line["email"] == "gus@example.com"
        assert line["providers"] == ["google.com"] and line["id_token"]


def test_no_function_is_asked_about_others(client, server, functions):
    """Anonymous users, custom tokens and administrators are asked about in production neither."""
    client.call("signUp")
    client.call("signInWithCustomToken", token=json.dumps({"uid": "made"}))
    client.session.post(
        f"{client.base}/identitytoolkit.googleapis.com/v1/projects/interop/accounts",
        json={"email": "adam@example.com"}, headers=OWNER, timeout=30).raise_for_status()
    assert functions.told() == []


def test_a_function_that_cannot_be_reached(client, server, functions):
    functions.kill()
    answer = client.try_call("signUp", email="ann@example.com", password="secret-1")
    assert answer.status_code == 500
    message = answer.json()["error"]["message"]
    assert message.startswith("BLOCKING_FUNCTION_ERROR_RESPONSE : ((Failed to make request to ")
    assert people(client, server) == []
    # Without functions, sign-ups continue.
    assert registered(server, {})["blockingFunctions"]["triggers"] == {}
    client.call("signUp", email="ann@example.com", password="secret-1")


@pytest.mark.parametrize("url", ["http://example.com/f", "http://192.0.2.1/f"])
def test_other_hosts_are_not_called(client, server, url):
    registered(server, {"beforeCreate": url})
    answer = client.try_call("signUp", email="ann@example.com", password="secret-1")
    assert answer.status_code == 500 and "is not called" in answer.json()["error"]["message"]


def test_an_address_that_is_no_url_is_refused(client, server):
    answer = requests.patch(
        f"{client.base}{CONFIG}", headers=OWNER, timeout=30,
        json={"blockingFunctions": {"triggers": {"beforeCreate": {"functionUri": "file:///x"}}}})
    assert answer.status_code == 400 and "functionUri" in answer.json()["error"]["message"]


def test_only_administrators_register(secure, secure_rest):
    for headers in [{}, {"Authorization": "Bearer owner"}, {"X-Goog-Api-Key": "any"}]:
        answer = requests.patch(
            f"{secure_rest.base}{CONFIG}", headers=headers, timeout=30,
            json={"blockingFunctions": {"triggers": {
                "beforeCreate": {"functionUri": f"http://127.0.0.1:{free_port()}/f"}}}})
        assert answer.status_code in (400, 401, 403), answer.text
