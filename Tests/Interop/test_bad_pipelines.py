"""Pipelines that would need endless memory, stack or time are refused with a sentence, over gRPC
and over REST, and the server's memory stays flat."""

import json
import urllib.error
import urllib.request

import grpc
import pytest
from google.cloud.firestore_v1.types import firestore as messages
from google.protobuf import json_format

from conftest import Server
from test_attacks import memory

DATABASE = "projects/interop/databases/(default)"
COLLECTION = ("collection", {"referenceValue": "/books"})
LIST = {"functionValue": {"name": "array", "args": [{"integerValue": str(n)} for n in range(100)]}}
# Long values reach the bound of memory after few rows.
LONG = {"functionValue": {"name": "array", "args": [
    {"stringValue": f"{n:03}" + "a" * 500} for n in range(100)]}}
UNNESTS, LONG_UNNESTS = (
    [("unnest", values, {"fieldReferenceValue": name}) for name in "xyz"]
    for values in (LIST, LONG))
PATTERN = {"functionValue": {"name": "regex_match", "args": [
    {"stringValue": "a" * 1000}, {"stringValue": "(a{1000}){1000}"}]}}


def mapped(**fields):
    return {"mapValue": {"fields": fields}}


def call(name, *arguments):
    return {"functionValue": {"name": name, "args": list(arguments)}}


GROUPS = ("aggregate", mapped(n=call("count")), mapped(**{
    name: {"fieldReferenceValue": name} for name in "xyz"}))
SORT = ("sort", mapped(expression={"fieldReferenceValue": "x"},
                       direction={"stringValue": "ascending"}))

MEMORY = ("RESOURCE_EXHAUSTED", "The stage aggregate needs more memory than a query may use")
TIME = ("DEADLINE_EXCEEDED", "The pipeline ran for 10 seconds, while all other calls waited.")

# The stages, the status, and words of the sentence.
BAD = {
    "stages": ([COLLECTION] + [("limit", {"integerValue": "5"})] * 1000,
               "INVALID_ARGUMENT", "A pipeline may have at most 200 stages."),
    "groups": ([COLLECTION, *LONG_UNNESTS, GROUPS], *MEMORY),
    "small groups": ([COLLECTION, *UNNESTS, GROUPS], *MEMORY),
    "sort": ([COLLECTION, *UNNESTS, SORT],
             "RESOURCE_EXHAUSTED", "The stage sort needs more memory than a query may use"),
    "pattern": ([COLLECTION, ("select", mapped(m=PATTERN))],
                "INVALID_ARGUMENT", "invalid regular expression"),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shop"), 0, "--edition", "enterprise")
    server.client().collection("books").document("a").set({"a": True})
    yield server
    assert server.process.poll() is None
    server.stop()


def body(stages):
    return {"structuredPipeline": {"pipeline": {"stages": [
        {"name": name, "args": list(arguments)} for name, *arguments in stages]}}}


def rest(server, text):
    """Returns the status and the message of a refusal."""
    url = f"http://{server.host}/v1/{DATABASE}/documents:executePipeline"
    request = urllib.request.Request(url, text.encode(), method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=120).read()
    answer = json.loads(refused.value.read())
    error = (answer[0] if isinstance(answer, list) else answer)["error"]
    return error["status"], error["message"]


def wire(server, data):
    with grpc.insecure_channel(server.host) as channel:
        execute = channel.unary_stream("/google.firestore.v1.Firestore/ExecutePipeline")
        with pytest.raises(grpc.RpcError) as refused:
            list(execute(data, timeout=120))
    return refused.value.code().name, refused.value.details()


def encoded(stages):
    request = messages.ExecutePipelineRequest.pb()()
    json_format.ParseDict({"database": DATABASE, **body(stages)}, request)
    return request.SerializeToString()


@pytest.mark.parametrize("door", ["gRPC", "REST"])
@pytest.mark.parametrize("name", BAD)
def test_a_pipeline_without_bounds_is_refused(shop, name, door):
    stages, status, words = BAD[name]
    with open(f"/proc/{shop.process.pid}/clear_refs", "w") as file:
        file.write("5")
    before = memory(shop)
    if door == "gRPC":
        found = wire(shop, encoded(stages))
    else:
        found = rest(shop, json.dumps(body(stages)))
    # On a busy machine, the bound of time comes before a million small rows.
    expected = [(status, words)] + ([TIME] if name == "small groups" else [])
    assert any(found[0] == each and text in found[1] for each, text in expected), found
    # A query may hold 128 MiB of rows.
    most = 512 << 20 if status == "RESOURCE_EXHAUSTED" else 32 << 20
    assert memory(shop, "VmHWM") - before < most


def field(number, content):
    """Returns a field of a message, of any length."""
    length = len(content)
    size = b""
    while length > 127:
        size += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 & 127 | 2 | (128 if number > 15 else 0)]) + (
        bytes([number >> 4]) if number > 15 else b"") + size + bytes([length]) + content


def deep_request(levels):
    value = field(19, b"a")
    for _ in range(levels):
        value = field(20, field(1, b"not") + field(2, value))
    stages = [field(1, b"collection") + field(2, field(5, b"/books")),
              field(1, b"where") + field(2, value)]
    pipeline = b"".join(field(1, stage) for stage in stages)
    return field(1, DATABASE.encode()) + field(2, field(1, pipeline))


def deep_text(levels):
    value = ('{"functionValue":{"name":"not","args":[' * levels + '{"fieldReferenceValue":"a"}'
             + "]}}" * levels)
    text = json.dumps(body([COLLECTION, ("where", "@")]))
    return text.replace('"@"', value)


@pytest.mark.parametrize("levels", [150, 1_000, 10_000])
def test_deep_expressions_are_refused(shop, levels):
    before = memory(shop)
    for status, message in (wire(shop, deep_request(levels)), rest(shop, deep_text(levels))):
        assert status == "INVALID_ARGUMENT" and len(message) > 20
    assert memory(shop) - before < 64 << 20
