"""The official form of exports: written by the server, read by other projects' code, and imported
again."""

import datetime
import json
import pathlib
import subprocess
import sys
import textwrap

import pytest
from google.cloud import firestore
from google.cloud.firestore_v1.vector import Vector

import entity_log
from conftest import Server

READERS = pathlib.Path(__file__).parent / ".venv-readers"
PACKAGE = "leveldb-export==0.1.1"


@pytest.fixture(scope="session")
def reader():
    """Makes a reader that uses Google's own classes for entities. It needs an older version of
    protobuf than Google's client, so it runs in a separate environment.

    - Returns: A function from a file of documents to a dictionary by path.
    """
    python = READERS / "bin/python"
    made = READERS / "made-for"
    if not made.exists() or made.read_text() != PACKAGE:
        subprocess.run([sys.executable, "-m", "venv", "--clear", READERS], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE],
            check=True)
        made.write_text(PACKAGE)
    script = textwrap.dedent("""
        import json, sys
        from leveldb_export import parse_leveldb_documents
        rows = {}
        for row in parse_leveldb_documents(sys.argv[1]):
            key = row.pop("_key")
            rows[key["path"]] = {"app": key["app"], "fields": row}
        def text(value):
            return {"kind": type(value).__name__, "text": repr(value)}
        print(json.dumps(rows, default=text))
        """)

    def read(file):
        process = subprocess.run(
            [python, "-c", script, str(file)], capture_output=True, text=True, timeout=60)
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    return read


OUTPUT = "firestore_export/all_namespaces/all_kinds/output-0"


@pytest.mark.bound(240)
def test_other_peoples_reader_reads_what_was_exported(server, reader, tmp_path):
    client = server.client("exported")
    client.document("rooms/blue").set(
        {"name": "Blue", "seats": 12, "open": True, "nothing": None, "size": 2.5})
    client.document("rooms/blue/messages/m1").set(
        {"tags": ["a", "b"], "by": {"first": "Ann", "age": 44, "more": {"deep": [1, 2]}}})
    folder = tmp_path / "export"
    process = server.run("export", folder, "--project", "exported")
    assert process.returncode == 0, process.stderr
    assert "2 documents of projects/exported/databases/(default)" in process.stdout
    rows = reader(folder / OUTPUT)
    assert rows == {
        "rooms/blue": {
            "app": "dev~exported",
            "fields": {"name": "Blue", "seats": 12, "open": True, "nothing": None, "size": 2.5}},
        "rooms/blue/messages/m1": {
            "app": "dev~exported",
            "fields": {
                "tags": ["a", "b"],
                "by": {"first": "Ann", "age": 44, "more": {"deep": [1, 2]}}}},
    }


def test_every_byte_of_an_export_is_as_the_form_has_it(server, tmp_path):
    """The tests' own reader checks frames, checksums, keys, meanings and counts."""
    client = server.client("strict")
    client.document("kinds/all").set(everything(client))
    client.document("long/" + "n" * 200).set({"text": "x" * 100_000})
    folder = tmp_path / "export"
    assert server.run("export", folder, "--project", "strict").returncode == 0
    base = folder / "firestore_export"
    version, second = entity_log.records(base / "firestore_export.overall_export_metadata")
    assert version == b"3"
    part = entity_log.fields(entity_log.one(entity_log.fields(second), 1))
    assert entity_log.one(part, 3) == 2
    output = folder / OUTPUT
    assert entity_log.one(part, 4) == output.stat().st_size
    assert (base / entity_log.one(part, 2).decode()).is_file()
    entities = [entity_log.fields(record) for record in entity_log.records(output)]
    assert [entity_log.path(entity) for entity in entities] == [
        ("kinds/all", "dev~strict"), ("long/" + "n" * 200, "dev~strict")]
    rows = {}
    for name, meaning, value, multiple, number in entity_log.properties(entities[0]):
        rows.setdefault(name, []).append(
            (meaning, [field for field, _ in value], multiple, number))
    assert rows["null"] == [(0, [], False, 15)]
    assert rows["yes"] == [(0, [2], False, 15)]
    assert rows["int"] == rows["least"] == [(0, [1], False, 15)]
    assert rows["float"] == rows["whole"] == [(0, [4], False, 15)]
    assert rows["text"] == [(0, [3], False, 15)]
    assert rows["bytes"] == [(14, [3], False, 15)]
    assert rows["time"] == [(7, [1], False, 15)]
    assert rows["place"] == [(9, [5], False, 15)]
    assert rows["reference"] == [(0, [12], False, 15)]
    assert rows["map"] == [(19, [3], False, 15)]
    assert [row[0] for row in rows["list"]] == [0, 0, 19]
    assert all(multiple for _, _, multiple, _ in rows["list"])
    assert rows["empty"][0][0] == 24 and rows["empty"][0][3] == 14


def everything(client):
    return {
        "null": None, "yes": True, "int": 2**53 + 1, "least": -2**63, "float": 0.1, "whole": 3.0,
        "text": "naïve \U0001F3DD", "bytes": b"\x00\xff", "empty": [], "list": [1, "a", {"b": []}],
        "map": {"a": {"b": {}}}, "place": firestore.GeoPoint(-33.5, 151.25),
        "time": datetime.datetime(2026, 11, 24, 21, 49, 0, 123456, tzinfo=datetime.timezone.utc),
        "reference": client.document("rooms/blue"), "vector": Vector([0.5, -1.0]),
    }


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()}


def test_an_export_imported_elsewhere_is_equal(server, tmp_path):
    client = server.client("there")
    client.document("kinds/all").set(everything(client))
    batch = client.batch()
    for row in range(400):
        batch.set(client.document(f"rows/r{row}"), {"n": row, "text": "x" * 100})
    batch.commit()
    folder = tmp_path / "export"
    assert server.run("export", folder, "--project", "there").returncode == 0
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Server(tmp_path / "elsewhere")
    process = elsewhere.run("import", "firestore", folder)
    assert process.returncode == 0, process.stderr
    assert "401 documents in projects/there/databases/(default)" in process.stdout
    other = elsewhere.client("there")
    found = other.document("kinds/all").get().to_dict()
    expected = everything(other)
    assert found == expected
    assert type(found["whole"]) is float and type(found["int"]) is int
    assert {row.id: row.to_dict()["n"] for row in other.collection("rows").stream()} == {
        f"r{row}": row for row in range(400)}
    elsewhere.stop()
    again = tmp_path / "again"
    assert server.run("export", again, "--project", "there").returncode == 0
    assert contents(again) == contents(folder)


def test_a_server_begins_with_an_export_and_leaves_one(tmp_path):
    seed = tmp_path / "seed"
    (tmp_path / "one").mkdir()
    first = Server(tmp_path / "one", 0, "--export-on-exit", seed)
    first.client("seeded").document("rooms/blue").set({"n": 1})
    first.stop()
    assert first.process.returncode == 0
    (tmp_path / "two").mkdir()
    second = Server(tmp_path / "two", 0, "--import", seed, "--export-on-exit", seed)
    client = second.client("seeded")
    assert client.document("rooms/blue").get().to_dict() == {"n": 1}
    client.document("rooms/red").set({"n": 2})
    second.stop()
    (tmp_path / "three").mkdir()
    overall = seed / "firestore_export/firestore_export.overall_export_metadata"
    third = Server(
        tmp_path / "three", 0, "--seed_from_export", overall, "--import-project", "other")
    rows = third.client("other").collection("rooms").stream()
    assert {row.id: row.to_dict() for row in rows} == {"blue": {"n": 1}, "red": {"n": 2}}
    third.stop()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "seed", "three", "two"]


@pytest.mark.parametrize("damage", ["byte", "cut", "outside"])
def test_a_damaged_export_is_refused_in_a_sentence(server, tmp_path, damage):
    client = server.client("damaged")
    client.document("rooms/blue").set({"text": "x" * 500})
    folder = tmp_path / "export"
    assert server.run("export", folder, "--project", "damaged").returncode == 0
    output = folder / OUTPUT
    data = bytearray(output.read_bytes())
    if damage == "byte":
        data[100] ^= 1
        output.write_bytes(data)
    elif damage == "cut":
        output.write_bytes(data[:-1])
    else:
        output.rename(tmp_path / "elsewhere")
        output.symlink_to(tmp_path / "elsewhere")
    process = server.run("import", "firestore", folder, "--project", "fresh-" + damage)
    assert process.returncode == 1
    assert "damaged" in process.stderr or "outside the export" in process.stderr
    assert process.stderr.count("\n") == 1, process.stderr
    assert list(server.client("fresh-" + damage).collection("rooms").stream()) == []


def test_a_folder_with_something_else_is_left_alone(server, tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    process = server.run("export", tmp_path)
    assert process.returncode == 1 and "not replaced" in process.stderr
    assert contents(tmp_path) == {"letter.txt": b"mine"}


def test_the_command_serves_the_official_listing(tmp_path):
    """The listing contains the entries that `firebase emulators:export` writes, and entries that
    only Tidemark reads."""
    (tmp_path / "data").mkdir()
    server = Server(tmp_path / "data", 0, "--export-on-exit", tmp_path / "export")
    server.client("listed").document("a/b").set({})
    server.stop()
    listing = json.loads((tmp_path / "export/firebase-export-metadata.json").read_text())
    assert listing["firestore"]["path"] == "firestore_export"
    assert (tmp_path / "export" / listing["firestore"]["metadata_file"]).is_file()
