"""Files: Google's client of Cloud Storage, and replays of Firebase's three clients."""

import uuid

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage as cloud

from conftest import Server
from storage.dialects import Android, Ios, Web

BUCKET = "interop.appspot.com"


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("files"), 0, "--storage")
    yield server
    server.stop()
    assert server.process.returncode == 0, "the server did not end cleanly"


def connect(server):
    """Google's client, which finds the server by its address."""
    return cloud.Client(
        project="interop", credentials=AnonymousCredentials(),
        client_options={"api_endpoint": f"http://127.0.0.1:{server.storage_port}"})


@pytest.fixture(scope="session")
def bucket(files):
    return connect(files).bucket(BUCKET)


@pytest.fixture
def name():
    """The name of an object that no other test uses."""
    return f"folder/{uuid.uuid4().hex} + é%#?.bin"


@pytest.fixture(params=[Web, Ios, Android], ids=["web", "ios", "android"])
def device(request, files):
    return request.param(files)


@pytest.fixture
def web(files):
    return Web(files)


@pytest.fixture
def ios(files):
    return Ios(files)
