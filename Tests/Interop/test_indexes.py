"""Production's index rules: `--indexes` with its three policies, as Google's own client receives
them."""

import base64
import datetime
import json
import re
import subprocess
import threading

import pytest
from google.api_core.exceptions import FailedPrecondition
from google.cloud import firestore
from google.cloud.firestore_admin_v1.types import Index
from google.cloud.firestore_v1.base_query import FieldFilter

from conftest import BINARY, Server
from test_control import ask

EMPTY = {"indexes": [], "fieldOverrides": []}
STATE = {
    "collectionGroup": "cities", "queryScope": "COLLECTION", "fields": [
        {"fieldPath": "state", "order": "ASCENDING"},
        {"fieldPath": "population", "order": "DESCENDING"}]}


def serve(tmp_path, content, *flags):
    path = tmp_path / "firestore.indexes.json"
    if content is not None:
        path.write_text(json.dumps(content))
    said = open(tmp_path / "stderr", "w")
    server = Server(tmp_path, 0, "--indexes", path, *flags, stderr=said)
    client = server.client()
    cities = client.collection("cities")
    cities.document("la").set({"state": "secret", "population": 4, "tags": ["west"]})
    cities.document("sf").set({"state": "secret", "population": 1, "tags": ["west", "hills"]})
    return server, path, cities


def by_population(cities):
    return cities.where(filter=FieldFilter("state", "==", "secret")).order_by(
        "population", direction=firestore.Query.DESCENDING)


def test_strict_refuses_with_a_link_that_google_understands(tmp_path):
    server, _, cities = serve(tmp_path, EMPTY)
    try:
        with pytest.raises(FailedPrecondition) as refusal:
            by_population(cities).get()
        text = refusal.value.message
        # The text that Google's JavaScript client searches for.
        assert re.search(r"index.*https://console\.firebase\.google\.com", text)
        start = (
            "The query requires an index. You can create it here: "
            "https://console.firebase.google.com/v1/r/project/interop/firestore/indexes"
            "?create_composite=")
        assert text.startswith(start)
        link = text[len(start):]
        index = Index.deserialize(base64.urlsafe_b64decode(link + "=" * (-len(link) % 4)))
        assert index.name == "projects/interop/databases/(default)/collectionGroups/cities/indexes/_"
        assert index.query_scope == Index.QueryScope.COLLECTION
        order = Index.IndexField.Order
        assert [(field.field_path, field.order) for field in index.fields] == [
            ("state", order.ASCENDING), ("population", order.DESCENDING),
            ("__name__", order.DESCENDING)]
        # A single field needs no further index, and several equalities are merged.
        assert len(cities.order_by("population").get()) == 2
        both = cities.where(filter=FieldFilter("state", "==", "secret")).where(
            filter=FieldFilter("population", "==", 1))
        assert [document.id for document in both.get()] == ["sf"]
        with pytest.raises(FailedPrecondition, match="COLLECTION_GROUP_CONTAINS index for "
                           "collection cities and field tags"):
            server.client().collection_group("cities").where(
                filter=FieldFilter("tags", "array_contains", "west")).get()
        with pytest.raises(FailedPrecondition, match="requires an index"):
            cities.where(filter=FieldFilter("state", "==", "secret")).sum("population").get()
        status, report = ask(server, "/tidemark/v1/indexes")
        assert status == 200
        assert report["policy"] == "strict"
        assert {"collectionGroup": "cities", "queryScope": "Collection", "queries": 1,
                "properties": "(state ASC, population DESC, __name__ DESC)"} in report["missing"]
    finally:
        server.stop()


def test_strict_serves_what_is_declared(tmp_path):
    server, _, cities = serve(tmp_path, {"indexes": [STATE]})
    try:
        assert [document.id for document in by_population(cities).get()] == ["la", "sf"]
    finally:
        server.stop()


def test_an_exempt_field_cannot_be_asked_for(tmp_path):
    exempt = {"collectionGroup": "cities", "fieldPath": "*", "indexes": []}
    server, _, cities = serve(tmp_path, {"indexes": [], "fieldOverrides": [exempt]})
    try:
        with pytest.raises(FailedPrecondition, match="COLLECTION_ASC index for collection cities"):
            cities.where(filter=FieldFilter("state", "==", "secret")).get()
        assert len(cities.get()) == 2
        assert cities.document("la").get().exists
    finally:
        server.stop()


def test_warn_says_what_is_missing_and_prints_it_at_the_end(tmp_path):
    server, path, cities = serve(tmp_path, EMPTY, "--index-policy", "warn")
    for _ in range(2):
        assert [document.id for document in by_population(cities).get()] == ["la", "sf"]
    server.stop()
    said = (tmp_path / "stderr").read_text()
    line = "index missing: Collection cities (state ASC, population DESC, __name__ DESC)\n"
    assert said.count(line) == 1
    assert "secret" not in said, "a log line must not hold contents"
    to_add = json.loads(said[said.index("{"):])
    assert json.loads(path.read_text()) == EMPTY
    # The printed indexes are those that a strict server requires.
    path.write_text(json.dumps(to_add))
    strict = Server(tmp_path, 0, "--indexes", path)
    try:
        assert len(by_population(strict.client().collection("cities")).get()) == 2
    finally:
        strict.stop()


def test_auto_makes_the_file_and_adds_to_it(tmp_path):
    server, path, cities = serve(tmp_path, None, "--index-policy", "auto")
    assert [document.id for document in by_population(cities).get()] == ["la", "sf"]
    # The file was written before the answer.
    assert [index["collectionGroup"] for index in json.loads(path.read_text())["indexes"]] == [
        "cities"]
    server.stop()
    strict = Server(tmp_path, 0, "--indexes", path)
    try:
        assert len(by_population(strict.client().collection("cities")).get()) == 2
    finally:
        strict.stop()


@pytest.mark.parametrize("content, flags, sentence", [
    (None, [], "There is no file"),
    ("{", [], "The file is not JSON"),
    ('{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "a", "order": "UP"}]}]}', [],
     "indexes[0].fields[0].order: This must be ASCENDING or DESCENDING."),
    ('{"indexes": [] /* mine */}', ["--index-policy", "auto"], "would lose its comments"),
])
def test_a_file_that_cannot_be_used_is_said_and_nothing_starts(
        tmp_path, content, flags, sentence):
    path = tmp_path / "indexes.json"
    if content is not None:
        path.write_text(content)
    ended = subprocess.run(
        [BINARY, "serve", "--port", "0", "--memory", "--indexes", path, *flags],
        capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert sentence in ended.stderr


def test_a_policy_needs_a_file():
    ended = subprocess.run(
        [BINARY, "serve", "--index-policy", "warn"], capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0
    assert "--index-policy needs --indexes." in ended.stderr


def test_documents_expire_by_the_servers_clock(tmp_path):
    """The policy of production's file of indexes. Production takes up to a day; a turned clock is enough here."""
    path = tmp_path / "firestore.indexes.json"
    path.write_text(json.dumps({"fieldOverrides": [
        {"collectionGroup": "sessions", "fieldPath": "expireAt", "ttl": True, "indexes": []}]}))
    server = Server(tmp_path, 0, "--indexes", path)
    try:
        sessions = server.client().collection("sessions")
        now = datetime.datetime.now(datetime.timezone.utc)
        sessions.document("short").set({"expireAt": now + datetime.timedelta(hours=1)})
        sessions.document("long").set({"expireAt": now + datetime.timedelta(days=30)})
        gone = threading.Event()

        def heard(rows, changes, time):
            if [row.id for row in rows] == ["long"]:
                gone.set()

        watch = sessions.on_snapshot(heard)
        later = int((now + datetime.timedelta(days=1)).timestamp() * 1_000_000)
        assert ask(server, "/tidemark/v1/clock", json.dumps({"time": later}))[0] == 200
        assert gone.wait(60), "a listener hears of the delete"
        watch.unsubscribe()
        assert [row.id for row in sessions.get()] == ["long"]
    finally:
        server.stop()
