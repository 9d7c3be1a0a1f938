"""Accounts: Firebase's administration library, and the protocol of apps, without a library."""

import os
import uuid

import firebase_admin
import firebase_admin.auth
import pytest
import requests

from conftest import Server
from operations import used

TOKEN = "administrators-token"


class Noted:
    """A module that records which of its attributes were used."""

    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        used.add((self.module.__name__, name))
        return getattr(self.module, name)


NOTED = Noted(firebase_admin.auth)


class Client:
    """The app's side of the protocol."""

    def __init__(self, server, project="accounts"):
        self.base = f"http://127.0.0.1:{server.accounts_port}"
        self.project = project
        self.session = requests.Session()

    def post(self, path, body=None, **options):
        return self.session.post(self.base + path, json=body or {}, timeout=30, **options)

    def try_call(self, action, **fields):
        return self.post(
            f"/identitytoolkit.googleapis.com/v1/projects/{self.project}/accounts:{action}?key=any",
            fields)

    def call(self, action, **fields):
        response = self.try_call(action, **fields)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, action, **fields):
        """Returns the code of the error: its first word."""
        response = self.try_call(action, **fields)
        assert response.status_code >= 400, response.text
        return message(response)

    def refresh(self, token, **options):
        return self.session.post(
            self.base + "/securetoken.googleapis.com/v1/token?key=any", timeout=30,
            data={"grant_type": "refresh_token", "refresh_token": token}, **options)

    def sign_up(self, password="secret-1"):
        email = f"u{uuid.uuid4().hex[:12]}@example.com"
        return email, self.call(
            "signUp", email=email, password=password, returnSecureToken=True)


def message(response):
    return response.json()["error"]["message"].split(" ")[0]


@pytest.fixture
def auth():
    return NOTED


@pytest.fixture(scope="session")
def accounts(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("accounts"))
    os.environ["FIREBASE_AUTH_EMULATOR_HOST"] = f"127.0.0.1:{server.accounts_port}"
    yield server
    server.stop()
    assert server.process.returncode == 0, "the server did not end cleanly"


@pytest.fixture(scope="session")
def app(accounts):
    app = firebase_admin.initialize_app(
        options={"projectId": "accounts"}, name="accounts-" + uuid.uuid4().hex)
    yield app
    firebase_admin.delete_app(app)


@pytest.fixture(scope="session")
def rest(accounts):
    return Client(accounts)


@pytest.fixture(scope="session")
def secure(tmp_path_factory):
    """A server with signed tokens. The administrator's token is in the environment, as it should
    be."""
    server = Server(
        tmp_path_factory.mktemp("secure"), 0, "--accounts", "secure", "--accounts-project",
        "accounts", "--accounts-password-cost", "11", environment={"TIDEMARK_TOKEN": TOKEN})
    yield server
    server.stop()


@pytest.fixture(scope="session")
def secure_rest(secure):
    return Client(secure)
