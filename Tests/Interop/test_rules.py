"""Google's client under security rules: permissions, and the effect of a changed rules file."""

import base64
import contextlib
import json
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import websocket
from google.api_core.exceptions import InvalidArgument, NotFound, PermissionDenied
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import FieldFilter

from conftest import BINARY, Server

RULES = """rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    function signedIn() { return request.auth != null; }
    function mine(data) { return signedIn() && data.owner == request.auth.uid; }
    match /rooms/{id} {
      allow get, list: if mine(resource.data);
      allow create: if mine(request.resource.data)
        && existsAfter(/databases/$(database)/documents/members/$(request.auth.uid));
      allow update: if mine(resource.data)
        && request.resource.data.diff(resource.data).affectedKeys().hasOnly(['text', 'at', 'n']);
      allow delete: if mine(resource.data);
    }
    match /members/{uid} { allow write: if uid == request.auth.uid; }
    match /{path=**}/notes/{id} { allow read: if resource.data.public == true; }
  }
}
"""
CLOSED = "rules_version = '2';\nservice cloud.firestore { }\n"
PROJECT = "interop"


def token(uid, **claims):
    def part(fields):
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")
    return f'{part({"alg": "none"})}.{part({"sub": uid, "user_id": uid, **claims})}.'


@pytest.fixture
def guarded(tmp_path):
    file = tmp_path / "firestore.rules"
    file.write_text(RULES)
    log = open(tmp_path / "log", "w+")
    server = Server(tmp_path, 0, "--rules", file, stderr=log)
    server.rules, server.log = file, tmp_path / "log"
    yield server
    server.stop()


def someone(server, bearer=None):
    """Returns Google's client with a token, as an app's library sends it."""
    client = server.client(PROJECT)
    client._rpc_metadata_internal = [
        ("google-cloud-resource-prefix", client._database_string)]
    if bearer:
        client._rpc_metadata_internal.append(("authorization", f"Bearer {bearer}"))
    return client


def ask(server, path, body=None, method=None):
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.control_port}{path}", method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.loads(response.read())


def until(check, seconds=15):
    deadline = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


def refused(call, *arguments, **options):
    with pytest.raises(PermissionDenied) as error:
        result = call(*arguments, **options)
        if hasattr(result, "__iter__"):
            list(result)
    assert "Missing or insufficient permissions." in str(error.value)
    return str(error.value)


def test_every_operation_is_allowed_or_denied(guarded):
    owner = someone(guarded, "owner")
    ann, bob, nobody = (someone(guarded, token("ann")), someone(guarded, token("bob")),
                        someone(guarded))
    owner.document("members/ann").set({"since": 1})
    ann.document("rooms/blue").create({"owner": "ann"})
    assert ann.document("rooms/blue").get().to_dict() == {"owner": "ann"}
    for other in (bob, nobody):
        refused(other.document("rooms/blue").get)
        refused(other.document("rooms/blue").update, {"text": "x"})
        refused(other.document("rooms/blue").delete)
        refused(other.document("rooms/red").set, {"owner": "ann"})
        refused(other.get_all, [other.document("rooms/blue")])
        refused(other.collection("rooms").get)
        refused(other.collection("rooms").count().get)
    refused(ann.document("rooms/blue").update, {"owner": "bob"})
    ann.document("rooms/blue").update({"text": "hi", "at": firestore.SERVER_TIMESTAMP})
    ann.document("rooms/blue").set({"n": firestore.Increment(1)}, merge=True)
    # The rules judge a list by its query, not by its documents.
    lacking = refused(ann.collection("rooms").get)
    assert '.whereField("owner", isEqualTo: "ann")' in lacking
    mine = ann.collection("rooms").where(filter=FieldFilter("owner", "==", "ann"))
    assert [d.id for d in mine.get()] == ["blue"]
    assert mine.count().get()[0][0].value == 1
    refused(bob.collection("rooms").where(filter=FieldFilter("owner", "==", "ann")).get)
    public = ann.collection_group("notes").where(filter=FieldFilter("public", "==", True))
    owner.document("rooms/blue/notes/1").set({"public": True})
    assert [d.id for d in public.get()] == ["1"]
    refused(ann.collection_group("notes").get)
    refused(lambda: list(ann.collections()))
    # A refused caller does not learn if a document exists.
    refused(bob.document("rooms/none").update, {"text": "x"})
    with pytest.raises(NotFound):
        owner.document("rooms/none").update({"text": "x"})
    with pytest.raises(InvalidArgument):
        someone(guarded, "nonsense").document("rooms/blue").get()
    ann.document("rooms/blue").delete()
    assert not owner.document("rooms/blue").get().exists


def test_batches_and_transactions_are_all_or_nothing(guarded):
    owner, ann = someone(guarded, "owner"), someone(guarded, token("ann"))
    batch = ann.batch()
    batch.set(ann.document("rooms/a"), {"owner": "ann"})
    refused(batch.commit)
    batch = ann.batch()
    batch.set(ann.document("rooms/a"), {"owner": "ann"})
    batch.set(ann.document("members/ann"), {})
    batch.commit()
    batch = ann.batch()
    batch.set(ann.document("rooms/b"), {"owner": "ann"})
    batch.set(ann.document("rooms/c"), {"owner": "bob"})
    refused(batch.commit)
    assert [d.id for d in owner.collection("rooms").get()] == ["a"]

    @firestore.transactional
    def move(transaction, owner_of_b):
        assert ann.document("rooms/a").get(transaction=transaction).get("owner") == "ann"
        transaction.update(ann.document("rooms/a"), {"text": "moved"})
        transaction.set(ann.document("rooms/b"), {"owner": owner_of_b})

    refused(move, ann.transaction(), "bob")
    assert "text" not in owner.document("rooms/a").get().to_dict()
    move(ann.transaction(), "ann")
    assert owner.document("rooms/a").get().get("text") == "moved"


def test_a_listen_is_cut_when_the_rules_change(guarded, caplog):
    owner, ann = someone(guarded, "owner"), someone(guarded, token("ann"))
    owner.document("rooms/blue").set({"owner": "ann"})
    seen = []
    watch = ann.document("rooms/blue").on_snapshot(lambda docs, *_: seen.append(len(docs)))
    until(lambda: seen)
    guarded.rules.write_text(CLOSED)
    until(lambda: not watch.is_active, 30)
    reason = "Missing or insufficient permissions. No rule allows 'get'"
    until(lambda: reason in caplog.text)
    refused(ann.document("rooms/blue").get)
    guarded.rules.write_text(RULES)
    until(lambda: "the new rules are in force" in guarded.log.read_text()[-200:])
    until(lambda: ask(guarded, "/tidemark/v1/rules")["source"] == RULES)
    assert ann.document("rooms/blue").get().exists


def test_a_wrong_file_changes_nothing_and_is_told_of(guarded):
    ann = someone(guarded, token("ann"))
    someone(guarded, "owner").document("rooms/blue").set({"owner": "ann"})
    guarded.rules.write_text(RULES.replace("allow delete: if", "allow delete if"))
    state = until(lambda: (s := ask(guarded, "/tidemark/v1/rules"))["problems"] and s)
    assert state["isInForce"] and state["source"] == RULES
    assert state["problems"][0].startswith("L12:")
    log = guarded.log.read_text()
    assert "firestore.rules: L12:" in log and "stay in force" in log
    assert ann.document("rooms/blue").get().exists
    guarded.rules.unlink()
    until(lambda: "cannot be read" in ask(guarded, "/tidemark/v1/rules")["problems"][0])
    assert ann.document("rooms/blue").get().exists
    guarded.rules.write_text(RULES)
    until(lambda: not ask(guarded, "/tidemark/v1/rules")["problems"])


def test_a_killed_server_comes_back_with_its_rules(tmp_path):
    file = tmp_path / "firestore.rules"
    file.write_text(RULES)
    server = Server(tmp_path, 0, "--rules", file)
    for round in range(4):
        owner, ann = someone(server, "owner"), someone(server, token("ann"))
        owner.document(f"rooms/r{round}").set({"owner": "ann"})
        # The file changes shortly before the kill. The new server reads either file.
        file.write_text(CLOSED if round % 2 == 0 else RULES)
        server.kill()
        server = Server(tmp_path, 0, "--rules", file)
        ann, owner = someone(server, token("ann")), someone(server, "owner")
        if round % 2 == 0:
            refused(ann.document(f"rooms/r{round}").get)
        else:
            assert ann.document(f"rooms/r{round}").get().exists
        assert len(owner.collection("rooms").get()) == round + 1
    server.stop()


def test_production_s_sentence_and_nothing_else(tmp_path):
    file = tmp_path / "firestore.rules"
    file.write_text(RULES)
    server = Server(tmp_path, 0, "--rules", file, "--rules-errors", "production")
    try:
        text = refused(someone(server).document("rooms/blue").get)
        assert text == "403 Missing or insufficient permissions."
    finally:
        server.stop()


def test_reads_of_rules_are_billed_once_each_and_apart(guarded):
    someone(guarded, "owner").document("members/ann").set({})
    ask(guarded, "/tidemark/v1/meter", method="DELETE")
    ann = someone(guarded, token("ann"))
    batch = ann.batch()
    for name in "abc":
        batch.set(ann.document(f"rooms/{name}"), {"owner": "ann"})
    batch.commit()
    rows = ask(guarded, "/tidemark/v1/meter?by=target")
    assert {row["target"]: row["reads"] for row in rows if row["reads"]} == {"(rules)": 1}


def test_google_s_rules_testing_library_finds_what_it_asks_for(guarded):
    put = f"/emulator/v1/projects/{PROJECT}:securityRules"
    answer = ask(guarded, put, {"rules": {"files": [{"content": CLOSED}]}}, "PUT")
    assert answer["issues"] == []
    refused(someone(guarded, token("ann")).document("members/ann").set, {})
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(guarded, put, {"rules": {"files": [{"content": "match"}]}}, "PUT")
    assert error.value.code == 400
    assert "Error compiling rules:" in json.loads(error.value.read())["error"]["message"]
    ask(guarded, put, {"rules": {"files": [{"content": RULES}]}}, "PUT")
    someone(guarded, token("ann")).document("members/ann").set({})
    report = ask(guarded, f"/emulator/v1/projects/{PROJECT}:ruleCoverage")["report"]
    values = [v for node in report for v in node.get("values", [])]
    assert {"value": {"boolValue": True}, "count": 1} in values


def connect(server, **options):
    """Returns a reader of the feed, with the WebSocket client that Selenium uses."""
    return websocket.create_connection(
        f"ws://127.0.0.1:{server.requests_port}/requests", timeout=20, **options)


def closed(server, **options):
    """Returns true if the feed sends a reader only the close frame of a policy violation."""
    with contextlib.closing(connect(server, **options)) as feed:
        opcode, data = feed.recv_data(control_frame=True)
        return opcode == websocket.ABNF.OPCODE_CLOSE and data[:2] == (1008).to_bytes(2, "big")


def test_google_s_pages_find_the_feed_of_requests(guarded):
    place = ask(guarded, "/emulators")["firestore"]
    assert place["webSocketHost"] == "127.0.0.1"
    assert place["webSocketPort"] == guarded.requests_port
    someone(guarded, "owner").document("rooms/blue").set({"owner": "ann", "n": 1})
    ann, bob = someone(guarded, token("ann")), someone(guarded, token("bob", admin=False))
    assert ann.document("rooms/blue").get().exists
    with contextlib.closing(connect(guarded)) as feed:
        before = json.loads(feed.recv())
        assert [entry["outcome"] for entry in before] == ["allow"]
        context = before[0]["rulesContext"]
        assert context["path"] == "/databases/(default)/documents/rooms/blue"
        assert context["method"] == "get" and context["time"].endswith("Z")
        fields = context["request"]["mapValue"]["fields"]
        assert fields["auth"]["mapValue"]["fields"]["uid"] == {"stringValue": "ann"}
        assert fields["path"]["pathValue"]["segments"][-1] == {"simple": "blue"}
        data = context["resource"]["mapValue"]["fields"]["data"]["mapValue"]["fields"]
        assert data == {"n": {"intValue": 1}, "owner": {"stringValue": "ann"}}
        assert before[0]["rulesReleaseName"].startswith(f"projects/{PROJECT}/")

        refused(bob.document("rooms/blue").get)
        denied = json.loads(feed.recv())
        assert denied["outcome"] == "deny" and int(denied["requestId"]) == 2
        assert denied["granularAllowOutcomes"] == [{"line": 7, "outcome": "deny"}]
        claims = denied["rulesContext"]["request"]["mapValue"]["fields"]["auth"]["mapValue"]
        assert claims["fields"]["token"]["mapValue"]["fields"]["admin"] == {"boolValue": False}
        # A rule that reads a missing document's field fails with an error.
        refused(bob.document("rooms/none").get)
        assert json.loads(feed.recv())["outcome"] == "error"
        mine = ann.collection("rooms").where(filter=FieldFilter("owner", "==", "ann"))
        assert len(mine.limit(3).get()) == 1
        listed = json.loads(feed.recv())["rulesContext"]
        query = listed["request"]["mapValue"]["fields"]["query"]["mapValue"]["fields"]
        assert listed["method"] == "list" and query["limit"] == {"intValue": 3}
        feed.ping("still there?")
        # Calls of administrators are not judged.
        someone(guarded, "owner").document("rooms/red").set({"owner": "bob"})
        feed.settimeout(1)
        with pytest.raises(websocket.WebSocketTimeoutException):
            feed.recv()


def test_the_feed_is_read_by_pages_of_this_machine_alone(guarded, tmp_path):
    assert closed(guarded, origin="https://evil.example")
    assert closed(guarded, host="evil.example")
    connect(guarded, origin="http://localhost:4000").close()
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"http://127.0.0.1:{guarded.requests_port}/requests", timeout=20)
    assert error.value.code == 426
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(f"http://127.0.0.1:{guarded.requests_port}/", timeout=20)
    assert error.value.code == 404
    readers = [connect(guarded) for _ in range(32)]
    assert closed(guarded)
    for reader in readers:
        reader.close()
    until(lambda: not closed(guarded))


def test_who_starts_a_server_hears_that_all_its_callers_are_administrators(tmp_path):
    file = tmp_path / "firestore.rules"
    file.write_text(CLOSED)
    sentence = "a caller with that token is an administrator"
    secret = {"TIDEMARK_TOKEN": "a-secret-of-the-server"}
    for flags, environment, is_said in [
        ((), secret, True), (("--accounts", "secure"), secret, False), ((), {}, False),
    ]:
        data = tmp_path / f"data-{len(flags)}-{len(environment)}"
        data.mkdir()
        with open(data / "log", "w+") as log:
            server = Server(data, 0, "--rules", file, *flags, stderr=log, environment=environment)
            try:
                assert (sentence in (data / "log").read_text()) == is_said
                if is_said:
                    someone(server, secret["TIDEMARK_TOKEN"]).document("a/b").set({})
                    assert closed(server)
                    shown = ["Authorization: Bearer a-secret-of-the-server"]
                    assert not closed(server, header=shown)
            finally:
                server.stop()


def run(*arguments, cwd=None):
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=cwd)


def test_the_commands_check_test_and_explain(guarded, tmp_path):
    wrong = tmp_path / "wrong.rules"
    wrong.write_text("service cloud.firestore {\n  match /a/{b} { allow read if true; }\n}\n")
    checked = run("rules", "check", wrong)
    assert checked.returncode == 1 and ":2:29: error: " in checked.stdout
    wrong.write_text(RULES + "\n// fine")
    assert run("rules", "check", wrong).returncode == 0
    assert run("rules", "check", tmp_path / "none").returncode == 1
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps({
        "rules": "firestore.rules",
        "documents": {"rooms/blue": {"owner": "ann"}},
        "cases": [{"as": "ann", "get": "rooms/blue", "expect": "allow"},
                  {"as": "bob", "get": "rooms/blue", "expect": "deny"}]}))
    tested = run("rules", "test", cases)
    assert tested.returncode == 0 and "2 cases, 0 not as expected." in tested.stdout
    cases.write_text(cases.read_text().replace("deny", "allow"))
    tested = run("rules", "test", cases, "--coverage")
    assert tested.returncode == 1 and "FAILED bob get rooms/blue: denied" in tested.stdout
    assert "request.auth.uid → 'bob'" in tested.stdout and "untested: L12:7" in tested.stdout
    someone(guarded, "owner").document("rooms/blue").set({"owner": "ann"})
    here = ["--project", PROJECT, "--control-port", guarded.control_port]
    told = run("rules", "explain", "get", "rooms/blue", "--as", "ann", *here)
    assert told.returncode == 0 and told.stdout.startswith("allowed\n")
    told = run("rules", "explain", "get", "rooms/blue", "--as", "bob", *here)
    assert told.returncode == 1 and "data.owner → 'ann'" in told.stdout
    told = run("rules", "explain", "list", "rooms", "--as", "ann",
               "--where", '["owner", "==", "ann"]', *here)
    assert told.returncode == 0, told.stdout + told.stderr
    told = run("rules", "explain", "delete", "rooms/blue", "--as", "bob", "--cases", cases)
    assert told.returncode == 1 and told.stdout.startswith("denied: ")
    assert run("rules", "explain", "get", "rooms", *here).returncode == 1


def test_the_commands_for_documents_are_an_administrators(guarded):
    """As `audit`, `migrate` and `export` do, they send the token that no rule judges."""
    here = ["--project", PROJECT]
    written = guarded.run("set", "secret/one", '{"fields": {}}', *here)
    assert written.returncode == 0, written.stderr
    assert guarded.run("get", "secret/one", *here).returncode == 0


def test_firebase_json_is_found_and_obeyed(tmp_path):
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "my.rules").write_text(CLOSED)
    (tmp_path / "firebase.json").write_text(json.dumps({
        "firestore": {"rules": "my.rules", "indexes": "none.json"},
        "emulators": {"firestore": {"port": 21291}, "auth": {"port": 21292},
                      "ui": {"port": 21293}}}))
    log = open(tmp_path / "log", "w+")
    process = subprocess.Popen(
        [BINARY, "serve", "--memory"], cwd=tmp_path / "inner" / "deep",
        stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout.readline() == "ready 127.0.0.1:21291\n"
        with urllib.request.urlopen("http://127.0.0.1:21293/tidemark/v1/rules") as response:
            assert json.loads(response.read())["source"] == CLOSED
        said = (tmp_path / "log").read_text()
        assert "console port 21293, none.json does not exist" in said
    finally:
        process.terminate()
        process.wait(20)
