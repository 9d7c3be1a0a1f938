"""Delivers changes of documents to functions: Google's functions framework with the functions of
`functions/main.py`, and an emulator of functions."""

import concurrent.futures
import json
import urllib.request

import pytest
from google.events.cloud import firestore_v1

from conftest import Server
from functions_host import Functions, FunctionsEmulator, ask, decoded, idle

KINDS = ["created", "updated", "deleted", "written"]
SECOND = "google.cloud.firestore.document.v1."
FIRST = "providers/cloud.firestore/eventTypes/document."


@pytest.fixture
def emulator():
    emulator = FunctionsEmulator("first", "second")
    yield emulator
    emulator.close()


@pytest.fixture
def emulated(emulator, tmp_path):
    """A server as Firebase's tools start it."""
    server = Server(tmp_path, 0, "--functions_emulator", emulator.host)
    yield server
    server.stop()


def test_every_handler_of_the_functions_framework(tmp_path):
    names = KINDS + [kind + "_by" for kind in KINDS]
    functions = Functions(tmp_path, *names)
    server = Server(tmp_path, 0, "--triggers", functions.triggers())
    try:
        functions.start(server.host)
        room = server.client().document("rooms/blue")
        room.set({"n": 1, "deep": {"list": [1, None, "é"]}})
        room.update({"n": 2})
        room.update({"n": 2})
        room.delete()
        server.client().document("halls/blue").set({"n": 1})
        report = idle(server)
        assert report["waiting"] == 0 and report["setAside"] == []
        assert {row["key"]: row["delivered"] for row in report["triggers"]} == {
            "created": 1, "updated": 1, "deleted": 1, "written": 3,
            "created_by": 1, "updated_by": 1, "deleted_by": 1, "written_by": 3}
        one = {"n": 1, "deep": {"list": [1, None, "é"]}}
        two = dict(one, n=2)
        changes = {"created": [(None, one)], "updated": [(one, two)], "deleted": [(two, None)]}
        changes["written"] = changes["created"] + changes["updated"] + changes["deleted"]
        told = functions.told()
        assert len({line["id"] for line in told}) == len(told) == 12
        for name in names:
            own = [line for line in told if line["name"] == name]
            kind = name.removesuffix("_by")
            assert [(line["before"], line["after"]) for line in own] == changes[kind], name
            for line in own:
                assert line["room"] == "blue" and line["document"] == "rooms/blue"
                assert line["project"] == "interop" and line["database"] == "(default)"
                assert line["type"].startswith(SECOND + kind)
                expected = ["service_account", "owner"] if name != kind else [None, None]
                assert line["auth"] == expected
    finally:
        server.stop()
        functions.kill()


def test_a_failing_function_is_tried_again_and_set_aside(tmp_path):
    functions = Functions(tmp_path, "failing", "written")
    server = Server(
        tmp_path, 0, "--triggers", functions.triggers(), "--function-attempts", 2)
    try:
        functions.start(server.host)
        server.client().document("rooms/blue").set({"n": 1})
        report = idle(server)
        assert [(row["trigger"], row["document"]) for row in report["setAside"]] == [
            ("failing", "rooms/blue")]
        assert "500" in report["setAside"][0]["reason"]
        told = functions.told()
        assert sorted(line["name"] for line in told) == ["failing", "failing", "written"]
        failed = [line["id"] for line in told if line["name"] == "failing"]
        assert failed[0] == failed[1] == report["setAside"][0]["id"]
        status, _ = ask(server, "POST", f"/tidemark/v1/triggers:repeat?event={failed[0]}")
        assert status == 200
        idle(server)
        assert len(functions.told()) == 5
    finally:
        server.stop()
        functions.kill()


def register(server, key, kind, generation=2, pattern="rooms/{room}"):
    root = "/emulator/v1/projects/interop"
    if generation == 1:
        resource = f"projects/interop/databases/(default)/documents/{pattern}"
        return ask(server, "PUT", f"{root}/triggers/{key}", {"eventTrigger": {
            "eventType": FIRST + kind, "resource": resource,
            "service": "firestore.googleapis.com"}})
    return ask(server, "POST", f"{root}/eventarcTrigger?eventarcTriggerId={key}", {
        "eventType": SECOND + kind, "database": "(default)", "namespace": "(default)",
        "document": {"value": pattern, "matchType": "PATH_PATTERN"}})


def test_functions_are_registered_and_told_as_by_firebases_tools(emulated, emulator):
    assert register(emulated, "first", "write", 1) == (200, {})
    status, body = register(emulated, "second", "written")
    assert status == 200 and body["document"]["value"] == "rooms/{room}"
    room = emulated.client().document("rooms/blue")
    room.set({"n": 1, "m": {"x": 1, "y": 2}})
    room.update({"m.x": 5})
    idle(emulated)
    room.delete()
    idle(emulated)
    taken = emulator.take()
    assert [status for *_, status in taken] == [200] * 6
    first = [json.loads(body) for key, _, body, _ in taken if key == "first"]
    assert [event["data"]["updateMask"] for event in first] == [
        {}, {"fieldPaths": ["m.x"]}, {}]
    assert ["value" in event["data"] for event in first] == [True, True, False]
    assert ["oldValue" in event["data"] for event in first] == [False, True, True]
    name = "projects/interop/databases/(default)/documents/rooms/blue"
    for event in first:
        assert event["context"]["resource"] == {
            "name": name, "service": "firestore.googleapis.com"}
        assert event["context"]["eventType"] == FIRST + "write"
    assert first[1]["data"]["value"]["fields"]["m"]["mapValue"]["fields"]["x"] == {
        "integerValue": "5"}
    second = [(headers, firestore_v1.DocumentEventData.deserialize(decoded(body)))
              for key, headers, body, _ in taken if key == "second"]
    assert ["value" in data for _, data in second] == [True, True, False]
    assert ["old_value" in data for _, data in second] == [False, True, True]
    assert list(second[1][1].update_mask.field_paths) == ["m.x"]
    assert second[1][1].value.fields["m"].map_value.fields["y"].integer_value == 2
    assert second[2][1].old_value.name == name
    for headers, _ in second:
        assert headers["ce-type"] == SECOND + "written"
        assert headers["ce-document"] == "rooms/blue"
        assert headers["content-type"] == "application/protobuf"


def test_a_key_that_the_emulator_does_not_know_is_forgotten(emulated, emulator):
    register(emulated, "first", "write", 1)
    register(emulated, "unknown", "written")
    emulated.client().document("rooms/blue").set({"n": 1})
    report = idle(emulated)
    assert [row["key"] for row in report["triggers"]] == ["first"]
    assert sorted((key, status) for key, _, _, status in emulator.take()) == [
        ("first", 200), ("unknown", 404)]


def test_a_function_of_this_machine_is_called_without_a_proxy(emulator, tmp_path):
    server = Server(
        tmp_path, 0, "--functions_emulator", emulator.host,
        environment={"http_proxy": "http://127.0.0.1:1", "no_proxy": "example.com", "NO_PROXY": ""})
    try:
        register(server, "first", "write", 1)
        server.client().document("rooms/blue").set({"n": 1})
        report = idle(server)
        assert report["setAside"] == [] and report["waiting"] == 0
        assert [status for *_, status in emulator.take()] == [200]
    finally:
        server.stop()


def test_wrong_registrations_are_refused(emulated):
    status, body = register(emulated, "first", "made", 1)
    assert status == 400 and body["error"]["status"] == "INVALID_ARGUMENT"
    assert register(emulated, "second", "written", pattern="rooms")[0] == 400
    assert ask(emulated, "GET", "/tidemark/v1/triggers")[1]["triggers"] == []


def test_idle_is_never_early(emulated, emulator):
    register(emulated, "second", "written")
    client = emulated.client()
    made = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            names = [f"rooms/{made + number}" for number in range(10)]
            list(pool.map(lambda name: client.document(name).set({"n": 1}), names))
            made += len(names)
            idle(emulated)
            assert len(emulator.deliveries) == made


def test_a_server_without_functions_answers_registrations(tmp_path):
    """Firebase's tools end the whole start if a registration fails."""
    server = Server(tmp_path)
    try:
        assert register(server, "first", "write", 1)[0] == 200
        server.client().document("rooms/blue").set({"n": 1})
        report = idle(server)
        assert [(row["key"], row["isReachable"]) for row in report["triggers"]] == [
            ("first", False)]
    finally:
        server.stop()


def page(server, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.control_port}{path}") as answer:
        return json.loads(answer.read())


def test_the_console_leads_from_a_commit_to_what_its_function_reads(tmp_path):
    functions = Functions(tmp_path, "reading")
    server = Server(tmp_path, 0, "--triggers", functions.triggers())
    try:
        functions.start(server.host)
        for number in range(3):
            server.client().document(f"halls/{number}").set({"n": number})
        server.client().document("rooms/blue").set({"n": 1})
        idle(server)
        entries = page(server, "/traffic.json?show=functions")["entries"]
        delivery = next(entry for entry in entries if "event" in entry["links"])
        assert (delivery["asked"], delivery["outcome"]) == ("rooms/blue created", "OK")
        whole = page(server, f"/traffic.json/{delivery['id']}")
        assert [call["reads"] for call in whole["calls"]] == [3]
        assert whole["commit"]["method"] == "Commit"
        commit = page(server, f"/traffic.json/{whole['commit']['id']}")
        assert [entry["id"] for entry in commit["deliveries"]] == [delivery["id"]]
    finally:
        server.stop()
        functions.kill()


def test_the_console_reports_a_loop(tmp_path):
    functions = Functions(tmp_path, "looping")
    server = Server(tmp_path, 0, "--triggers", functions.triggers())
    try:
        functions.start(server.host)
        server.client().document("rooms/blue").set({"n": 1})
        idle(server)
        advice = page(server, "/traffic.json")["advice"]
        assert any("looping seems to trigger itself" in one["what"] for one in advice), advice
    finally:
        server.stop()
        functions.kill()
