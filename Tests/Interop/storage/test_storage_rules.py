"""Storage rules: who may do what, with documents of Firestore, and with a file that changes."""

import base64
import json
import os
import time

import pytest
import requests
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

from conftest import Server
from storage.dialects import BLOCK, Android, Ios, Web

RULES = """
rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /open/{name=**} { allow read, write; }
    match /users/{uid}/{name} {
      allow get: if request.auth.uid == uid;
      allow create: if request.auth.uid == uid && request.resource.size < 1000000
        && request.resource.contentType.matches('image/.*');
      allow update: if request.auth.uid == uid && request.resource.metadata.state == 'done';
      allow delete: if request.auth.uid == uid && resource.size > 3;
    }
    match /once/{name} { allow get; allow create: if resource == null; }
    match /rooms/{room} { allow list; }
    match /rooms/{room}/{name} {
      allow get, create: if request.auth.uid in
        firestore.get(/databases/(default)/documents/rooms/$(room)).data.members;
    }
  }
}
"""


def token(uid):
    """An unsigned token, as an emulator takes it."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'sub': uid, 'user_id': uid})}."


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ruled")
    (folder / "storage.rules").write_text(RULES)
    server = Server(folder, 0, "--storage", "--storage-rules", folder / "storage.rules",
                    "--accounts-project", "ruled")
    server.rules = folder / "storage.rules"
    yield server
    server.stop()


def refused(answer):
    assert answer.status_code == 403, (answer.status_code, answer.text)
    message = answer.json()["error"]["message"]
    assert message.startswith("Permission denied. Could not perform this operation")
    return message


@pytest.mark.parametrize("kind", [Web, Ios, Android])
def test_uploads_are_judged_by_size_and_type(ruled, kind):
    ann = kind(ruled, token=token("ann"))
    name = f"users/ann/{kind.__name__}"
    assert ann.upload(name, b"data")["size"] == "4"
    if kind is Android:
        # Its client declares no size, so the end decides.
        begun = ann.begin(name, b"")
        url = begun.headers["X-Goog-Upload-URL"]
        answer = ann.later(url, "upload, finalize", b"x" * 1_000_000, 0)
        assert answer.headers["X-Goog-Upload-Status"] == "final"
        assert "size" in refused(answer)
        refused(ann.later(url, "upload, finalize", b"x" * 1_000_000, 0))
        assert ann.later(url, "query").status_code == 403
    else:
        refused(ann.begin(name, b"x" * 1_000_000))
    refused(ann.begin(name, b"data", kind="text/plain")) if kind is not Android else None
    stranger = kind(ruled, token=token("bob"))
    if kind is not Android:
        refused(stranger.begin(name, b"data"))
    assert ann.download(name).content == b"data", "a refused upload changes nothing"
    refused(stranger.download(name))
    refused(kind(ruled).metadata(name))


def test_the_caller_of_the_start_decides_at_the_end(ruled):
    bob = Android(ruled, token=token("bob"))
    begun = bob.begin("users/ann/late", b"")
    url = begun.headers["X-Goog-Upload-URL"]
    ann = Android(ruled, token=token("ann"))
    refused(ann.later(url, "upload, finalize", b"data", 0))


def test_changes_and_deletes_are_judged(ruled):
    ann = Android(ruled, token=token("ann"))
    ann.upload("users/ann/a", b"data")
    refused(ann.patch("users/ann/a", {"metadata": {"state": "new"}}))
    assert ann.patch("users/ann/a", {"metadata": {"state": "done"}}).status_code == 200
    ann.upload("users/ann/small", b"1")
    assert "resource.size" in refused(ann.delete("users/ann/small"))
    assert ann.delete("users/ann/a").status_code == 204
    refused(ann.delete("users/ann/a"))


def test_rules_come_before_existence(ruled):
    web = Web(ruled)
    refused(web.metadata("users/ann/none"))
    assert web.metadata("open/none").status_code == 404


def test_a_link_needs_no_rights(ruled):
    web = Web(ruled, token=token("ann"))
    made = web.multipart("users/ann/link", b"data").json()
    link = web.url("users/ann/link") + "?alt=media&token="
    assert requests.get(link + made["downloadTokens"]).content == b"data"
    assert requests.get(link + "wrong").status_code == 403


def test_an_object_that_may_be_made_once(ruled):
    web = Web(ruled)
    assert web.multipart("once/a", b"1").status_code == 200
    refused(web.multipart("once/a", b"2"))
    assert web.download("once/a").content == b"1"


def test_lists_are_judged(ruled):
    web = Web(ruled)
    assert web.list(prefix="rooms/blue/").status_code == 200
    refused(web.list(prefix="users/ann/"))
    refused(web.list())


def test_rules_read_documents(ruled):
    os.environ["FIRESTORE_EMULATOR_HOST"] = ruled.host
    database = firestore.Client(project="ruled", credentials=AnonymousCredentials())
    ann = Web(ruled, token=token("ann"))
    refused(ann.multipart("rooms/blue/a", b"1"))
    database.document("rooms/blue").set({"members": ["ann"]})
    assert ann.multipart("rooms/blue/a", b"1").status_code == 200
    refused(Web(ruled, token=token("bob")).download("rooms/blue/a"))
    database.document("rooms/blue").update({"members": ["bob"]})
    assert Web(ruled, token=token("bob")).download("rooms/blue/a").content == b"1"
    refused(ann.download("rooms/blue/a"))


def test_administrators_are_not_judged(ruled):
    web = Web(ruled, token="owner")
    assert web.multipart("anywhere/a", b"1").status_code == 200
    base = f"http://127.0.0.1:{ruled.storage_port}/storage/v1/b/interop.appspot.com/o"
    assert requests.get(base).status_code == 200


def test_an_odd_name_is_not_another_users(ruled):
    """The segments of a name are counted as they are."""
    ann = Web(ruled, token=token("ann"))
    refused(ann.begin("users//ann/a", b"data"))
    refused(ann.begin("users/ann/", b"data", kind="text/plain"))


def test_the_file_is_read_again(ruled):
    web = Web(ruled)
    refused(web.metadata("later/a"))
    ruled.rules.write_text(RULES.replace("match /open/", "match /later/"))
    deadline = time.monotonic() + 20
    while web.metadata("later/a").status_code == 403:
        assert time.monotonic() < deadline
    refused(web.metadata("open/a"))
    ruled.rules.write_text(RULES)
    while web.metadata("open/a").status_code == 403:
        assert time.monotonic() < deadline


def test_firebase_json_names_rules_and_port(tmp_path):
    (tmp_path / "one.rules").write_text(RULES)
    (tmp_path / "two.rules").write_text(RULES.replace("'2'", "'1'"))
    (tmp_path / "firebase.json").write_text(json.dumps({
        "storage": [{"bucket": "one.appspot.com", "rules": "one.rules"},
                    {"bucket": "two.appspot.com", "rules": "two.rules"}]}))
    server = Server(tmp_path, 0, "--storage", "--firebase-json", tmp_path / "firebase.json")
    try:
        assert Web(server, bucket="one.appspot.com").list(prefix="open/").status_code == 200
        assert "rules_version" in refused(Web(server, bucket="two.appspot.com").list(prefix="open/"))
        assert Web(server, bucket="two.appspot.com").multipart("open/a", b"1").status_code == 200
        assert "has no rules" in refused(Web(server, bucket="three.appspot.com").list())
    finally:
        server.stop()


def test_production_tells_no_reason(tmp_path):
    (tmp_path / "storage.rules").write_text(RULES)
    server = Server(tmp_path, 0, "--storage", "--storage-rules", tmp_path / "storage.rules",
                    "--rules-errors", "production")
    try:
        message = refused(Web(server).multipart("users/ann/a", b"x" * BLOCK))
        assert message == "Permission denied. Could not perform this operation"
    finally:
        server.stop()
