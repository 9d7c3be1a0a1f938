"""A firebase.json that lists several databases: each has its own rules and indexes, by REST."""

import json
import time

import pytest
import requests

from conftest import Server
from test_rules import token

PROJECT = "interop"
ONLY_ROOMS = """rules_version = '2';
service cloud.firestore { match /databases/{db}/documents {
  match /rooms/{id} { allow read, write: if request.auth != null; } } }
"""
ONLY_SHOPS = """rules_version = '2';
service cloud.firestore { match /databases/{db}/documents {
  match /shops/{id} { allow read, write: if true; } } }
"""
NO_INDEXES = {"indexes": [], "fieldOverrides": []}
INDEX = {"indexes": [{"collectionGroup": "shops", "queryScope": "COLLECTION", "fields": [
    {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "n", "order": "DESCENDING"}]}],
    "fieldOverrides": []}


def await_(condition):
    """Waits for a file's change to be in force. The test's own time limit ends the wait."""
    while not condition():
        time.sleep(0.05)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "first.rules").write_text(ONLY_ROOMS)
    (tmp_path / "second.rules").write_text(ONLY_SHOPS)
    (tmp_path / "first.json").write_text(json.dumps(NO_INDEXES))
    (tmp_path / "second.json").write_text(json.dumps(INDEX))
    (tmp_path / ".firebaserc").write_text(json.dumps(
        {"targets": {PROJECT: {"firestore": {"later": ["third"]}}}}))
    (tmp_path / "firebase.json").write_text(json.dumps({"firestore": [
        {"database": "(default)", "rules": "first.rules", "indexes": "first.json"},
        {"database": "second", "rules": "second.rules", "indexes": "second.json"},
        {"target": "later"}]}))
    return tmp_path


class Rest:
    def __init__(self, server):
        self.server = server
        self.base = f"http://{server.host}/v1/projects/{PROJECT}/databases"
        self.control = f"http://127.0.0.1:{server.control_port}"

    def write(self, database, path, **header):
        return requests.patch(
            f"{self.base}/{database}/documents/{path}", headers=header,
            json={"fields": {"n": {"integerValue": 1}, "a": {"stringValue": "x"}}}).status_code

    def query(self, database):
        """A query that needs the index."""
        query = {"from": [{"collectionId": "shops"}],
                 "where": {"fieldFilter": {"field": {"fieldPath": "a"}, "op": "EQUAL",
                                           "value": {"stringValue": "x"}}},
                 "orderBy": [{"field": {"fieldPath": "n"}, "direction": "DESCENDING"}]}
        return requests.post(
            f"{self.base}/{database}/documents:runQuery", json={"structuredQuery": query},
            headers={"authorization": "Bearer owner"}).status_code

    def get(self, path, **query):
        return requests.get(f"{self.control}{path}", params=query).json()


@pytest.fixture
def rest(folder):
    log = open(folder / "log", "w+")
    server = Server(folder, 0, "--firebase-json", folder / "firebase.json", stderr=log)
    yield Rest(server)
    server.stop()


def test_each_database_has_its_rules(rest, folder):
    ann = {"authorization": f"Bearer {token('ann')}"}
    assert rest.write("(default)", "rooms/a", **ann) == 200
    assert rest.write("(default)", "rooms/a") == 403
    assert rest.write("(default)", "shops/a", **ann) == 403
    assert rest.write("second", "shops/a") == 200
    assert rest.write("second", "rooms/a", **ann) == 403
    assert rest.write("third", "anything/a") == 200, "a target without rules is open"
    assert rest.write("fourth", "shops/a") == 403, "one that is not named has those of (default)"
    said = (folder / "log").read_text()
    assert f"rules {folder / 'second.rules'} of second" in said
    assert "no rules of third, so everything is allowed there" in said


def test_a_changed_file_is_of_its_database_alone(rest, folder):
    assert rest.write("second", "shops/a") == 200
    (folder / "second.rules").write_text(ONLY_ROOMS)
    await_(lambda: rest.write("second", "shops/a") == 403)
    assert rest.write("second", "rooms/a", authorization=f"Bearer {token('ann')}") == 200
    (folder / "first.rules").write_text(ONLY_SHOPS)
    await_(lambda: rest.write("(default)", "shops/a") == 200)
    assert rest.write("second", "shops/a") == 403, "the other file has not changed it"


def test_each_database_has_its_indexes(rest, folder):
    assert (rest.query("(default)"), rest.query("second"), rest.query("third")) == (400, 200, 200)
    (folder / "first.json").write_text(json.dumps(INDEX))
    await_(lambda: rest.query("(default)") == 200)
    (folder / "second.json").write_text(json.dumps(NO_INDEXES))
    await_(lambda: rest.query("second") == 400)
    report = rest.get("/tidemark/v1/indexes")
    assert [row["database"] for row in report["missing"]] == ["second"]


def test_the_console_and_the_commands_know_which(rest, folder):
    state = rest.get("/tidemark/v1/rules")
    assert state["source"] == ONLY_ROOMS
    assert state["databases"] == {"second": str(folder / "second.rules")}
    state = rest.get("/tidemark/v1/rules", database="second")
    assert state["source"] == ONLY_SHOPS and state["file"] == str(folder / "second.rules")
    page = rest.get("/rules.json", database="second")
    assert page["source"] == ONLY_SHOPS and page["database"] == "second"
    assert page["databases"] == ["(default)", "second"]
    page = rest.get("/rules.json", database="(default)")
    assert page["source"] == ONLY_ROOMS

    def explain(database):
        answer = rest.server.run(
            "rules", "explain", "get", "shops/a", "--project", PROJECT, "--database", database,
            "--control-port", rest.server.control_port)
        return answer.returncode

    assert (explain("(default)"), explain("second")) == (1, 0)


def test_an_option_is_of_all_databases(folder):
    server = Server(folder, 0, "--firebase-json", folder / "firebase.json",
                    "--rules", folder / "second.rules")
    try:
        rest = Rest(server)
        assert rest.write("second", "shops/a") == rest.write("(default)", "shops/a") == 200
        assert rest.write("third", "rooms/a") == 403
    finally:
        server.stop()
