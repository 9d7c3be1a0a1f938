"""Documents that Google's client writes and Tidemark's client reads, and the reverse."""

import base64
import datetime
import json
import subprocess

from google.cloud import firestore
from google.cloud.firestore_v1.vector import Vector

from conftest import BINARY

UTC = datetime.timezone.utc

# Values of every type, in the form of the command line (Firestore's REST form).
IN_JSON = {
    "null": {"nullValue": None},
    "true": {"booleanValue": True},
    "integer": {"integerValue": str(-(2**63))},
    "double": {"doubleValue": 1.5},
    "infinity": {"doubleValue": "-Infinity"},
    "timestamp": {"timestampValue": "1969-12-31T23:59:59.999999Z"},
    "string": {"stringValue": "grüße \U0001f30a e\u0301"},
    "bytes": {"bytesValue": base64.b64encode(bytes(range(256))).decode()},
    "reference": {"referenceValue":
                  "projects/interop/databases/(default)/documents/other/one"},
    "geo": {"geoPointValue": {"latitude": -12.5, "longitude": 179.25}},
    "array": {"arrayValue": {"values": [{"integerValue": "1"}, {"nullValue": None}]}},
    "vector": {"mapValue": {"fields": {
        "__type__": {"stringValue": "__vector__"},
        "value": {"arrayValue": {"values": [{"doubleValue": 1.5}, {"doubleValue": -2.5}]}}}}},
    "map": {"mapValue": {"fields": {"with.dot": {"mapValue": {"fields": {}}}}}},
}


def in_python(client):
    return {
        "null": None, "true": True, "integer": -(2**63), "double": 1.5, "infinity": float("-inf"),
        "timestamp": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC),
        "string": "grüße \U0001f30a e\u0301", "bytes": bytes(range(256)),
        "reference": client.document("other/one"), "geo": firestore.GeoPoint(-12.5, 179.25),
        "array": [1, None], "vector": Vector([1.5, -2.5]), "map": {"with.dot": {}},
    }


def test_python_writes_and_swift_reads(server, client, collection):
    document = collection.document("from-python")
    document.set(in_python(client))
    result = server.run("get", document.path, "--project", "interop")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["fields"] == IN_JSON


def test_swift_writes_and_python_reads(server, client, collection):
    document = collection.document("from-swift")
    result = server.run("set", document.path, json.dumps({"fields": IN_JSON}),
                        "--project", "interop")
    assert result.returncode == 0, result.stderr
    assert document.get().to_dict() == in_python(client)


def test_swift_says_what_is_wrong(server, collection):
    missing = server.run("get", collection.document("nowhere").path, "--project", "interop")
    assert missing.returncode == 1 and "nowhere" in missing.stderr and "Usage" not in missing.stderr
    list_ = server.run("get", collection.id, "--project", "interop")
    assert list_.returncode == 64 and "names a collection, not a document" in list_.stderr


def test_a_document_in_another_form_is_not_written(server, client, collection):
    document = collection.document("kept")
    document.set({"kept": True})
    for json_, part in [
            ('{"text": {"stringValue": "a"}}', '"text" is no part of a document'),
            ('{"fields": {"a": 1}}', "At fields.a:"),
            ('{"fields": {"a": {"strngValue": "b"}}}', "At fields.a: a value must have one key"),
            ('{"fields": {"a": {"timestampValue": "yesterday"}}}', "At fields.a.timestampValue:"),
            ("{", "A name is missing (byte 1)."), ("[]", "not a document")]:
        bad = server.run("set", document.path, json_, "--project", "interop")
        assert bad.returncode == 64 and part in bad.stderr, (json_, bad.stderr)
        assert "DecodingError" not in bad.stderr
    assert document.get().to_dict() == {"kept": True}
    # The output of `get` can be written again.
    printed = server.run("get", document.path, "--project", "interop").stdout
    assert server.run("set", document.path, printed, "--project", "interop").returncode == 0


def test_no_server_is_a_sentence_with_its_address():
    for arguments in [("get", "a/b"), ("set", "a/b", '{"fields": {}}')]:
        result = subprocess.run(
            [BINARY, *arguments, "--host", "127.0.0.1:1"], capture_output=True, text=True,
            timeout=60)
        assert result.returncode == 1 and "127.0.0.1:1: The server" in result.stderr
        assert "Usage" not in result.stderr
