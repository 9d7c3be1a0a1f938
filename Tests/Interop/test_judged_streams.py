"""Streams that must end: because rules now refuse what they allowed, or because an account was
removed.

The tests use gRPC and WebChannel, and check the meter.
"""

import json
import time
import urllib.request

import grpc
import pytest
import requests

import wire
from conftest import Server
from test_rules import token
from webchannel import Channel

RULES = """rules_version = '2';
service cloud.firestore {
  match /databases/{db}/documents {
    match /own/{id} { allow read, write: if resource.data.owner == request.auth.uid; }
    match /team/{id} {
      allow read: if get(/databases/$(db)/documents/roles/$(request.auth.uid)).data.admin;
    }
    match /open/{id} { allow read, write: if request.auth != null; }
  }
}
"""
DATABASE = wire.DATABASE


@pytest.fixture
def served(tmp_path):
    servers = []

    def start(*flags, **environment):
        rules = tmp_path / "firestore.rules"
        rules.write_text(RULES)
        log = open(tmp_path / "log", "w")
        server = Server(
            tmp_path, 0, "--rules", rules, *flags, stderr=log, environment=environment)
        server.log = tmp_path / "log"
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


class Rest:
    """Calls Firestore over REST as a given caller."""

    def __init__(self, server, bearer):
        self.root = f"http://{server.host}/v1/{DATABASE}/documents"
        self.headers = {"authorization": f"Bearer {bearer}"}

    def set(self, path, **fields):
        body = {"fields": {
            key: {"booleanValue": value} if isinstance(value, bool) else {"stringValue": value}
            for key, value in fields.items()}}
        answer = requests.patch(
            f"{self.root}/{path}", json=body, headers=self.headers, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def get(self, path, **parameters):
        return requests.get(
            f"{self.root}/{path}", params=parameters, headers=self.headers, timeout=60)


def targets():
    return [
        {"targetId": 1, "documents": {"documents": [f"{DATABASE}/documents/own/a"]}},
        {"targetId": 2, "query": {
            "parent": f"{DATABASE}/documents",
            "structuredQuery": {"from": [{"collectionId": "team"}]}}},
        {"targetId": 3, "documents": {"documents": [f"{DATABASE}/documents/open/o"]}},
    ]


class ByWebChannel:
    def __init__(self, server, bearer):
        first, *rest = [
            json.dumps({"database": DATABASE, "addTarget": target}) for target in targets()]
        self.channel = Channel(
            server.host, "Listen", DATABASE, first, {"Authorization": f"Bearer {bearer}"})
        self.channel.listen()
        self.channel.send(*rest)

    def until(self, holds):
        self.channel.wait(lambda arrays: holds(json.dumps(arrays)))
        return json.dumps(self.channel.arrays)

    def close(self):
        self.channel.close()


class ByGRPC:
    """Calls the same methods over gRPC, with the same JSON."""

    def __init__(self, server, bearer):
        from google.cloud.firestore_v1.types import firestore
        self.types = firestore
        self.channel = grpc.insecure_channel(server.host)
        call = self.channel.stream_stream(
            "/google.firestore.v1.Firestore/Listen",
            request_serializer=firestore.ListenRequest.serialize,
            response_deserializer=firestore.ListenResponse.deserialize)
        import queue
        import threading
        self.requests = queue.Queue()
        for target in targets():
            text = json.dumps({"database": DATABASE, "addTarget": target})
            self.requests.put(firestore.ListenRequest.from_json(text))
        self.heard, self.changed = [], threading.Condition()
        self.call = call(
            iter(self.requests.get, None), metadata=[("authorization", f"Bearer {bearer}")])
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for response in self.call:
                with self.changed:
                    self.heard.append(json.loads(self.types.ListenResponse.to_json(response)))
                    self.changed.notify_all()
        except grpc.RpcError as error:
            with self.changed:
                self.heard.append({"error": {
                    "status": error.code().name, "message": error.details()}})
                self.changed.notify_all()

    def until(self, holds):
        with self.changed:
            assert self.changed.wait_for(lambda: holds(json.dumps(self.heard)), 20), self.heard
            return json.dumps(self.heard)

    def close(self):
        self.requests.put(None)
        self.channel.close()


def reads_of_rules(server):
    with urllib.request.urlopen(
            f"http://127.0.0.1:{server.control_port}/tidemark/v1/meter?by=target") as answer:
        rows = json.loads(answer.read())
    return sum(row["reads"] for row in rows if row["target"] == "(rules)")


@pytest.mark.parametrize("kind", [ByGRPC, ByWebChannel])
def test_a_listener_is_judged_before_it_is_told(served, kind):
    server = served()
    owner = Rest(server, "owner")
    owner.set("own/a", owner="ann", text="hers")
    owner.set("team/t", text="plan")
    owner.set("open/o", text="public")
    owner.set("roles/ann", admin=True)
    listener = kind(server, token("ann"))
    listener.until(lambda heard: all(text in heard for text in ["hers", "plan", "public"]))
    before = reads_of_rules(server)
    owner.set("own/a", owner="bob", text="TOP SECRET")
    owner.set("roles/ann", admin=False)
    owner.set("team/t", text="AFTER THE ROLE WAS TAKEN")
    owner.set("open/o", text="goes on")
    heard = listener.until(lambda heard: "goes on" in heard)
    assert heard.count("Missing or insufficient permissions.") == 2
    assert "SECRET" not in heard and "AFTER" not in heard
    assert reads_of_rules(server) == before + 1, "the role, read for the new decision"
    listener.close()


def test_a_past_version_is_judged_as_what_it_was(served):
    server = served()
    owner = Rest(server, "owner")
    then = owner.set("own/b", owner="bob", text="private of bob")["updateTime"]
    owner.set("own/b", owner="ann", text="now anns")
    ann, bob = (Rest(server, token(uid)) for uid in ("ann", "bob"))
    assert ann.get("own/b").status_code == 200
    assert ann.get("own/b", readTime=then).status_code == 403
    assert bob.get("own/b", readTime=then).json()["fields"]["text"] == {
        "stringValue": "private of bob"}


class Accounts:
    def __init__(self, server):
        self.server = server
        self.root = f"http://127.0.0.1:{server.accounts_port}/identitytoolkit.googleapis.com/v1"

    def sign_up(self):
        return requests.post(
            f"{self.root}/accounts:signUp?key=k", json={}, timeout=60).json()

    def admin(self, verb, body):
        answer = requests.post(
            f"{self.root}/projects/interop/accounts:{verb}", json=body, timeout=60,
            headers={"authorization": f"Bearer {SECRET}"})
        assert answer.status_code == 200, answer.text


SECRET = "a-token-of-an-administrator"


@pytest.mark.parametrize("way", ["disable", "delete"])
@pytest.mark.parametrize("kind", [ByGRPC, ByWebChannel])
def test_streams_end_with_their_account(served, kind, way):
    server = served(
        "--accounts", "secure", "--accounts-project", "interop", TIDEMARK_TOKEN=SECRET)
    accounts = Accounts(server)
    session = accounts.sign_up()
    owner = Rest(server, SECRET)
    owner.set("open/o", text="public")
    listener = kind(server, session["idToken"])
    listener.until(lambda heard: "public" in heard)
    if way == "disable":
        accounts.admin("update", {"localId": session["localId"], "disableUser": True})
    else:
        accounts.admin("delete", {"localId": session["localId"]})
    owner.set("open/o", text="SECRET AFTER")
    listener.until(lambda heard: "UNAUTHENTICATED" in heard)
    time.sleep(0.2)
    heard = listener.until(lambda heard: True)
    assert "SECRET" not in heard
    listener.close()


def test_where_accounts_are_secure_a_refusal_discloses_nothing(served):
    server = served(
        "--accounts", "secure", "--accounts-project", "interop", TIDEMARK_TOKEN=SECRET)
    owner = Rest(server, SECRET)
    owner.set("own/v", owner="uid-of-bob", text="4711")
    mallory = Rest(server, Accounts(server).sign_up()["idToken"])
    answer = mallory.get("own/v")
    assert answer.status_code == 403
    assert answer.json()["error"]["message"] == "Missing or insufficient permissions."
    assert "resource.data.owner is 'uid-of-bob'" in server.log.read_text()
