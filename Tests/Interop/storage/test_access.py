"""Who may call: administrators, users with signed tokens, and everybody else."""

import os
import uuid

import pytest
import requests

from accounts.conftest import TOKEN, Client
from conftest import Server
from storage.dialects import Ios, Web


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    server = Server(
        tmp_path_factory.mktemp("guarded"), 0, "--storage", "--accounts", "secure",
        "--accounts-project", "accounts", "--accounts-password-cost", "11",
        environment={"TIDEMARK_TOKEN": TOKEN})
    yield server
    server.stop()


@pytest.fixture
def user(guarded):
    return Client(guarded).sign_up()[1]["idToken"]


def test_strangers_are_refused_before_their_bytes_are_read(guarded):
    web = Web(guarded)
    for answer in [web.begin("a", b""), web.multipart("a", b"x" * 1000), web.metadata("a"),
                   web.download("a"), web.list(), web.delete("a"),
                   web.send("POST", web.url("a"), b"x", Content_Type="text/plain")]:
        assert answer.status_code == 401, answer.text
        assert answer.json()["error"]["code"] == 401
    forged = Web(guarded, token="eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.")
    assert forged.metadata("a").status_code == 401
    assert Web(guarded, token="owner").metadata("a").status_code == 401


def test_users_upload_and_a_session_needs_no_token(guarded, user):
    name = uuid.uuid4().hex
    ios = Ios(guarded, token=user)
    made = ios.upload(name, os.urandom(300_000))
    assert made["size"] == "300000"
    assert ios.download(name).status_code == 200
    # A link with a token needs nothing else.
    link = ios.url(name) + "?alt=media&token="
    assert requests.get(link + made["downloadTokens"]).status_code == 200
    assert requests.get(link + "other").status_code == 401
    assert requests.get(ios.url("none") + "?alt=media&token=x").status_code == 401


def test_cloud_storage_is_for_administrators(guarded, user):
    base = f"http://127.0.0.1:{guarded.storage_port}/storage/v1/b/interop.appspot.com/o"
    assert requests.get(base).status_code == 401
    assert requests.get(base, headers={"Authorization": f"Bearer {user}"}).status_code == 403
    assert requests.get(base, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    plain = f"http://127.0.0.1:{guarded.storage_port}/interop.appspot.com/a?X-Goog-Signature=x"
    assert requests.get(plain).status_code == 401
    assert requests.put(plain, data=b"x").status_code == 401
    batch = requests.post(
        f"http://127.0.0.1:{guarded.storage_port}/batch/storage/v1", data=b"",
        headers={"Content-Type": "multipart/mixed; boundary=a"})
    assert batch.status_code == 401


def test_administrators_do_everything(guarded):
    web = Web(guarded, token=TOKEN)
    name = uuid.uuid4().hex
    assert web.multipart(name, b"x").status_code == 200
    assert web.send("POST", web.url(name) + "?create_token=true").status_code == 200


def test_uploads_of_a_user_are_the_users(guarded, user):
    name = uuid.uuid4().hex
    begun = Web(guarded, token=user).begin(name, b"data")
    url = begun.headers["X-Goog-Upload-URL"]
    stranger = requests.post(url, data=b"data", headers={
        "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"})
    assert stranger.status_code == 200, "the address of an upload is the permission"


def test_without_a_gate_an_unsigned_token_names_the_user(files):
    damaged = Web(files, token="not-a-token")
    assert damaged.metadata("a").status_code == 401
    user = Web(files, token="eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.")
    assert user.multipart(uuid.uuid4().hex, b"x").status_code == 200
    cloud = f"http://127.0.0.1:{files.storage_port}/storage/v1/b/interop.appspot.com/o"
    assert requests.get(cloud).status_code == 200
    header = {"Authorization": "Firebase eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ."}
    assert requests.get(cloud, headers=header).status_code == 403


def test_a_page_of_another_site_shows_a_picture_by_its_link(guarded, user):
    """A page at `localhost` and a server at `127.0.0.1` are two sites for a browser."""
    name = uuid.uuid4().hex
    ios = Ios(guarded, token=user)
    made = ios.upload(name, b"a picture")
    link = ios.url(name) + "?alt=media&token=" + made["downloadTokens"]
    shown = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    answer = requests.get(link, headers=shown)
    assert answer.status_code == 200 and answer.content == b"a picture"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert requests.get(link, headers=dict(shown, **{"Sec-Fetch-Dest": "script"})).status_code == 403
    assert requests.get(ios.url(name) + "?alt=media", headers=shown).status_code == 403
    assert requests.get(ios.url(name), headers=shown).status_code == 403
