"""REST with `requests` and `curl` only: every method, its forms and its errors."""

import base64
import json
import subprocess
import uuid

import pytest
import requests

PROJECT = "interop"


class Rest:
    """The documents of one database, and a collection that no other test uses."""

    def __init__(self, server):
        self.host = server.host
        self.database = f"projects/{PROJECT}/databases/(default)"
        self.root = f"{self.database}/documents"
        self.base = f"http://{server.host}/v1/{self.root}"
        self.collection = "r-" + uuid.uuid4().hex[:10]
        self.session = requests.Session()

    def name(self, id):
        return f"{self.root}/{self.collection}/{id}"

    def url(self, id=None):
        return f"{self.base}/{self.collection}" + ("" if id is None else f"/{id}")

    def call(self, method, url, status=200, **options):
        answer = self.session.request(method, url, timeout=30, **options)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"].startswith("application/json")
        return answer.json()

    def set(self, id, fields, **parameters):
        return self.call("PATCH", self.url(id), json={"fields": fields}, params=parameters)

    def custom(self, word, body, status=200, parent="", **options):
        return self.call("POST", f"{self.base}{parent}:{word}", status, json=body, **options)

    def numbers(self, count):
        for n in range(count):
            self.set(f"d{n}", {"n": {"integerValue": str(n)}})


@pytest.fixture
def rest(server):
    return Rest(server)


def error(answer, status):
    assert answer["error"]["status"] == status, answer
    return answer["error"]["message"]


VALUES = {
    "null": {"nullValue": None},
    "yes": {"booleanValue": True}, "no": {"booleanValue": False},
    "smallest": {"integerValue": "-9223372036854775808"},
    "largest": {"integerValue": "9223372036854775807"},
    "zero": {"integerValue": "0"},
    "half": {"doubleValue": 0.5}, "third": {"doubleValue": 1 / 3},
    "tiny": {"doubleValue": 5e-324}, "huge": {"doubleValue": 1.7976931348623157e308},
    "nan": {"doubleValue": "NaN"}, "up": {"doubleValue": "Infinity"},
    "down": {"doubleValue": "-Infinity"}, "minus": {"doubleValue": "-0"},
    "time": {"timestampValue": "2024-02-29T23:59:59.000001Z"},
    "first": {"timestampValue": "0001-01-01T00:00:00Z"},
    "last": {"timestampValue": "9999-12-31T23:59:59.999999Z"},
    "text": {"stringValue": "a \" \\ \n \u0000 é 日 😀"}, "empty": {"stringValue": ""},
    "bytes": {"bytesValue": base64.b64encode(bytes(range(256))).decode()},
    "place": {"geoPointValue": {"latitude": -90, "longitude": 180}},
    "list": {"arrayValue": {"values": [{"integerValue": "1"}, {"mapValue": {}}]}},
    "nothing": {"arrayValue": {}},
    "map": {"mapValue": {"fields": {"a.b": {"stringValue": "x"}, "": {"nullValue": None}}}},
}


def test_values_come_back_as_they_went(rest):
    values = {key: value for key, value in VALUES.items()}
    del values["map"]["mapValue"]["fields"][""]
    values["reference"] = {"referenceValue": rest.name("other")}
    rest.set("all", values)
    text = rest.session.get(rest.url("all"), timeout=30).text
    fields = json.loads(text)["fields"]
    assert fields == values


@pytest.mark.parametrize("given, kept", [
    ({"integerValue": 7}, {"integerValue": "7"}),
    ({"integerValue": 9223372036854775807}, {"integerValue": "9223372036854775807"}),
    ({"integerValue": 1e3}, {"integerValue": "1000"}),
    ({"doubleValue": "-0"}, {"doubleValue": "-0"}),
    ({"doubleValue": -0.0}, {"doubleValue": "-0"}),
    ({"doubleValue": 3}, {"doubleValue": 3}),
    ({"doubleValue": "1.5"}, {"doubleValue": 1.5}),
    ({"nullValue": "NULL_VALUE"}, {"nullValue": None}),
    ({"bytesValue": "-_8="}, {"bytesValue": "+/8="}),
    ({"bytesValue": "-_8"}, {"bytesValue": "+/8="}),
    ({"timestampValue": "2024-01-01T00:00:00.123456789Z"},
     {"timestampValue": "2024-01-01T00:00:00.123456Z"}),
    ({"timestampValue": "2024-01-01T02:00:00.5+02:00"},
     {"timestampValue": "2024-01-01T00:00:00.500Z"}),
    ({"string_value": "x"}, {"stringValue": "x"}),
])
def test_other_forms_of_values(rest, given, kept):
    rest.set("form", {"v": given})
    assert rest.call("GET", rest.url("form"))["fields"]["v"] == kept


@pytest.mark.parametrize("value, sentence", [
    ({"integerValue": "x"},
     "Invalid value at 'document.fields[0].value.integer_value' (TYPE_INT64), \"x\""),
    ({"integerValue": 1.5},
     "Invalid value at 'document.fields[0].value.integer_value' (TYPE_INT64), 1.5"),
    ({"booleanValue": "true"},
     "Invalid value at 'document.fields[0].value.boolean_value' (TYPE_BOOL), \"true\""),
    ({"wrong": 1}, "Invalid JSON payload received. Unknown name \"wrong\" at "
                   "'document.fields[0].value': Cannot find field."),
    ({"timestampValue": "yesterday"}, "timestamps must end with 'Z'"),
    ({"timestampValue": "2023-02-29T00:00:00Z"}, "Illegal timestamp format"),
    ({"bytesValue": "%"}, "(TYPE_BYTES)"),
    ({"arrayValue": []}, "cannot start list"),
    ({"stringValue": "a", "integerValue": "1"}, "oneof field 'value_type' is already set"),
    ("text", "(type.googleapis.com/google.firestore.v1.Value), \"text\""),
])
def test_values_that_are_none(rest, value, sentence):
    answer = rest.call("PATCH", rest.url("bad"), 400, json={"fields": {"v": value}})
    assert sentence in error(answer, "INVALID_ARGUMENT")
    violation = answer["error"]["details"][0]
    assert violation["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert sentence in violation["fieldViolations"][0]["description"]


@pytest.mark.parametrize("body", ["{", "[]", "1", "\"x\"", "{\"fields\":", "\xff", "{} {}"])
def test_bodies_that_are_no_message(rest, body):
    answer = rest.call("PATCH", rest.url("bad"), 400, data=body.encode("latin1"))
    assert error(answer, "INVALID_ARGUMENT").startswith("Invalid JSON payload received.")


def test_get(rest):
    created = rest.set("a", {"x": {"integerValue": "1"}, "y": {"integerValue": "2"}})
    assert created["name"] == rest.name("a")
    assert created["createTime"] == created["updateTime"]
    assert rest.call("GET", rest.url("a")) == created
    masked = rest.call("GET", rest.url("a"), params={"mask.fieldPaths": ["y"]})
    assert masked["fields"] == {"y": {"integerValue": "2"}}
    rest.set("a", {})
    past = rest.call("GET", rest.url("a"), params={"readTime": created["updateTime"]})
    assert past["fields"] == created["fields"]
    answer = rest.call("GET", rest.url("missing"), 404)
    assert rest.name("missing") in error(answer, "NOT_FOUND")
    assert answer["error"]["code"] == 404


def test_create(rest):
    made = rest.call("POST", rest.url(), json={"fields": {}}, params={"documentId": "mine"})
    assert made["name"] == rest.name("mine")
    answer = rest.call("POST", rest.url(), 409, json={}, params={"documentId": "mine"})
    assert error(answer, "ALREADY_EXISTS").startswith("Document already exists: ")
    made = rest.call("POST", rest.url(), json={})
    assert len(made["name"].rsplit("/", 1)[1]) == 20


def test_patch(rest):
    rest.set("a", {"x": {"integerValue": "1"}, "y": {"integerValue": "2"}})
    changed = rest.set("a", {"y": {"integerValue": "3"}, "z": {"integerValue": "9"}},
                       **{"updateMask.fieldPaths": ["y", "x"], "mask.fieldPaths": "y"})
    assert changed["fields"] == {"y": {"integerValue": "3"}}
    assert rest.call("GET", rest.url("a"))["fields"] == {"y": {"integerValue": "3"}}
    answer = rest.call("PATCH", rest.url("no"), 404, json={},
                       params={"currentDocument.exists": "true"})
    assert error(answer, "NOT_FOUND").startswith("No document to update: ")
    rest.call("PATCH", rest.url("a"), 409, json={}, params={"currentDocument.exists": "False"})
    answer = rest.call("PATCH", rest.url("a"), 400, json={}, params={
        "currentDocument.updateTime": "2020-01-01T00:00:00Z"})
    assert "does not match the required base version" in error(answer, "FAILED_PRECONDITION")
    rest.set("a", {}, **{"currentDocument.updateTime": changed["updateTime"]})


def test_delete(rest):
    rest.set("a", {})
    answer = requests.delete(rest.url("a"), timeout=30)
    assert (answer.status_code, answer.json()) == (200, {})
    rest.call("GET", rest.url("a"), 404)
    assert rest.call("DELETE", rest.url("a")) == {}
    answer = rest.call("DELETE", rest.url("a"), 404, params={"currentDocument.exists": "true"})
    error(answer, "NOT_FOUND")


def test_list(rest):
    rest.numbers(5)
    rest.set("d9/below/x", {})
    names, token = [], ""
    while True:
        page = rest.call("GET", rest.url(), params={"pageSize": 2, "pageToken": token})
        names += [row["name"] for row in page["documents"]]
        assert len(page["documents"]) <= 2
        token = page.get("nextPageToken")
        if not token:
            break
    assert names == [rest.name(f"d{n}") for n in range(5)]
    page = rest.call("GET", rest.url(), params={"orderBy": "n desc", "mask.fieldPaths": "n"})
    assert [row["fields"]["n"]["integerValue"] for row in page["documents"]] == list("43210")
    page = rest.call("GET", rest.url(), params={"showMissing": "true"})
    assert page["documents"][-1] == {"name": rest.name("d9")}
    assert rest.call("GET", rest.base + "/" + uuid.uuid4().hex) == {}


@pytest.mark.parametrize("parameters, sentence", [
    ({"pageSize": "abc"}, "Invalid value at 'page_size' (TYPE_INT32), \"abc\""),
    ({"pageSize": "-1"}, "Page size must be nonnegative."),
    ({"x": "1"}, "Unknown name \"x\": Cannot bind query parameter. Field 'x' could not be found"),
    ({"mask.x": "1"}, "Cannot bind query parameter"),
    ({"showMissing": ""}, "Invalid value at 'show_missing' (TYPE_BOOL), \"\""),
    ({"readTime": "2024-01-01T00:00:00Z", "transaction": "AA=="},
     "Invalid value (oneof), oneof field 'consistency_selector' is already set. "
     "Cannot set 'transaction'"),
    ({"readTime": "now"}, "timestamps must end with 'Z'"),
    ({"pageToken": "%%"}, "age token"),
    ({"orderBy": "n", "showMissing": "1"}, "cannot specify an order when show_missing is true"),
])
def test_lists_that_make_no_sense(rest, parameters, sentence):
    answer = rest.call("GET", rest.url(), 400, params=parameters)
    assert sentence in error(answer, "INVALID_ARGUMENT")


def test_commit(rest):
    answer = rest.custom("commit", {"writes": [
        {"update": {"name": rest.name("a"), "fields": {"n": {"integerValue": "1"}}},
         "currentDocument": {"exists": False}},
        {"update": {"name": rest.name("b"), "fields": {}}, "updateMask": {"fieldPaths": []},
         "updateTransforms": [
             {"fieldPath": "n", "increment": {"integerValue": "5"}},
             {"fieldPath": "at", "setToServerValue": "REQUEST_TIME"},
             {"fieldPath": "l", "appendMissingElements": {"values": [{"stringValue": "x"}]}}]},
        {"delete": rest.name("c")}]})
    assert len(answer["writeResults"]) == 3 and answer["commitTime"]
    assert answer["writeResults"][2] == {}
    results = answer["writeResults"][1]["transformResults"]
    assert results[0] == {"integerValue": "5"} and results[2] == {"nullValue": None}
    assert "timestampValue" in results[1]
    answer = rest.custom("commit", {"writes": [{"verify": rest.name("zz"),
                                                "currentDocument": {"exists": True}}]}, 404)
    error(answer, "NOT_FOUND")
    other = rest.name("a").replace(PROJECT, "another")
    error(rest.custom("commit", {"writes": [{"delete": other}]}, 400), "INVALID_ARGUMENT")


def test_text_plain_as_the_web_clients_send(rest):
    body = json.dumps({"writes": [{"update": {"name": rest.name("p"), "fields": {}}}]})
    answer = rest.call("POST", f"{rest.base}:commit", data=body, params={"key": "k", "alt": "json"},
                       headers={"content-type": "text/plain"})
    assert len(answer["writeResults"]) == 1


def test_batch_get(rest):
    rest.set("a", {"n": {"integerValue": "1"}, "m": {"integerValue": "2"}})
    rows = rest.custom("batchGet", {"documents": [rest.name("a"), rest.name("no")],
                                    "mask": {"fieldPaths": ["n"]}})
    assert rows[0]["found"]["fields"] == {"n": {"integerValue": "1"}}
    assert rows[1]["missing"] == rest.name("no")
    assert all("readTime" in row for row in rows)
    answer = rest.custom("batchGet", {"documents": ["nowhere"]}, 400)
    error(answer[0], "INVALID_ARGUMENT")
    assert isinstance(answer, list) and len(answer) == 1


def test_batch_write(rest):
    answer = rest.custom("batchWrite", {"writes": [
        {"update": {"name": rest.name("a"), "fields": {}}},
        {"delete": rest.name("b"), "currentDocument": {"exists": True}}]})
    assert answer["status"][0] == {} and answer["status"][1]["code"] == 5
    assert len(answer["writeResults"]) == 2


def query(rest, **parts):
    return {"structuredQuery": {"from": [{"collectionId": rest.collection}], **parts}}


def test_run_query(rest):
    rest.numbers(6)
    rows = rest.custom("runQuery", query(
        rest, where={"fieldFilter": {"field": {"fieldPath": "n"}, "op": "GREATER_THAN",
                                     "value": {"integerValue": "1"}}},
        orderBy=[{"field": {"fieldPath": "n"}, "direction": "DESCENDING"}], limit=2))
    assert [row["document"]["name"] for row in rows] == [rest.name("d5"), rest.name("d4")]
    assert all("done" not in row for row in rows)
    rows = rest.custom("runQuery", query(rest, limit={"value": 1}, offset=2))
    assert rows[0]["skippedResults"] == 2 and "document" not in rows[0]
    rows = rest.custom("runQuery", query(rest, where={"unaryFilter": {
        "field": {"fieldPath": "no"}, "op": "IS_NULL"}}))
    assert len(rows) == 1 and list(rows[0]) == ["readTime"]
    rows = rest.custom("runQuery", query(rest), parent=f"/{rest.collection}/d1")
    assert list(rows[0]) == ["readTime"]
    rows = rest.custom("runQuery", {**query(rest), "explainOptions": {"analyze": True}})
    metrics = rows[-1]["explainMetrics"]
    assert metrics["planSummary"]["indexesUsed"][0]["query_scope"] == "Collection"
    assert metrics["executionStats"]["resultsReturned"] == "6"
    assert metrics["executionStats"]["executionDuration"].endswith("s")


@pytest.mark.parametrize("body, sentence", [
    ({}, "only structured queries are supported"),
    ({"structuredQuery": {"where": {"fieldFilter": {"op": "LIKE"}}}},
     "Invalid value at 'structured_query.where.field_filter.op' "
     "(type.googleapis.com/google.firestore.v1.StructuredQuery.FieldFilter.Operator), \"LIKE\""),
    ({"structuredQuery": {"from": {"collectionId": "a"}}}, "Invalid value at 'structured_query.from'"),
    ({"structuredQuery": {"from": [{"collection": "a"}]}},
     "Unknown name \"collection\" at 'structured_query.from[0]': Cannot find field."),
    ({"structuredQuery": {"limit": "many"}}, "Invalid value at 'structured_query.limit'"),
    ({"structuredQuery": {"from": [{"collectionId": "a/b"}]}},
     "Collection id \"a/b\" is invalid because it contains \"/\"."),
])
def test_queries_that_make_no_sense(rest, body, sentence):
    answer = rest.custom("runQuery", body, 400)
    assert isinstance(answer, list)
    assert sentence in error(answer[0], "INVALID_ARGUMENT")


def test_run_aggregation_query(rest):
    rest.numbers(4)
    rows = rest.custom("runAggregationQuery", {"structuredAggregationQuery": {
        **query(rest), "aggregations": [
            {"alias": "n", "count": {"upTo": "3"}}, {"sum": {"field": {"fieldPath": "n"}}},
            {"avg": {"field": {"fieldPath": "n"}}, "alias": "mean"}]}})
    assert len(rows) == 1
    assert rows[0]["result"]["aggregateFields"] == {
        "n": {"integerValue": "3"}, "field_1": {"integerValue": "6"},
        "mean": {"doubleValue": 1.5}}
    answer = rest.custom("runAggregationQuery", {"structuredAggregationQuery": query(rest)}, 400)
    assert "Aggregations can not be empty" in error(answer[0], "INVALID_ARGUMENT")


def test_transactions(rest):
    rest.set("a", {"n": {"integerValue": "1"}})
    begun = rest.custom("beginTransaction", {"options": {"readWrite": {}}})["transaction"]
    read = rest.call("GET", rest.url("a"), params={"transaction": begun})
    assert read["fields"]["n"]["integerValue"] == "1"
    rest.custom("commit", {"transaction": begun, "writes": [{"delete": rest.name("a")}]})
    rest.call("GET", rest.url("a"), 404)
    error(rest.custom("rollback", {"transaction": begun}, 409), "ABORTED")
    begun = rest.custom("beginTransaction", {"options": {"readOnly": {}}})["transaction"]
    assert rest.custom("rollback", {"transaction": begun}) == {}
    rows = rest.custom("runQuery", {**query(rest), "newTransaction": {"readOnly": {}}})
    assert list(rows[0]) == ["transaction"]
    assert rest.custom("rollback", {"transaction": rows[0]["transaction"]}) == {}
    rows = rest.custom("batchGet", {"documents": [rest.name("a")],
                                    "newTransaction": {"readWrite": {}}})
    assert rest.custom("rollback", {"transaction": rows[0]["transaction"]}) == {}


def test_list_collection_ids(rest):
    for id in ("one", "two", "three"):
        rest.set(f"d/{id}/x", {})
    parent = f"/{rest.collection}/d"
    page = rest.custom("listCollectionIds", {"pageSize": 2}, parent=parent)
    assert page["collectionIds"] == ["one", "three"]
    page = rest.custom("listCollectionIds", {"pageToken": page["nextPageToken"]}, parent=parent)
    assert page == {"collectionIds": ["two"]}
    assert rest.custom("listCollectionIds", {}, parent=f"/{rest.collection}/none") == {}


def test_partition_query(rest):
    answer = rest.custom("partitionQuery", {"structuredQuery": {
        "from": [{"collectionId": rest.collection, "allDescendants": True}],
        "orderBy": [{"field": {"fieldPath": "__name__"}, "direction": "ASCENDING"}]},
        "partitionCount": "3"})
    assert answer == {}


def test_pipelines_are_refused(rest):
    answer = rest.custom("executePipeline", {"structuredPipeline": {}}, 400)
    assert "Enterprise" in error(answer[0], "FAILED_PRECONDITION")
    assert answer[0]["error"]["details"][0]["reason"] == "PIPELINE_REQUIRES_ENTERPRISE_EDITION"


@pytest.mark.parametrize("method, path", [
    ("GET", "/v2/x"), ("GET", "/v1/projects/p"), ("PUT", "/v1/projects/p/databases/d/documents/a/b"),
    ("POST", "/v1/projects/p/databases/d/documents/a/b"), ("GET", "/v1/projects/p/databases/d/documents"),
    ("POST", "/v1/projects/p/databases/d/documents:unknown"), ("GET", "/favicon.ico"),
    ("GET", "/v1/projects//databases/d/documents/a/b"), ("POST", "/v1/projects/p/databases/d:commit"),
])
def test_places_where_nothing_is(rest, method, path):
    answer = rest.call(method, f"http://{rest.host}{path}", 404, data="{}")
    error(answer, "NOT_FOUND")


def test_ids_with_everything_that_an_id_may_hold(rest):
    for id in ("a b", "ä日😀", "a:b", "a+b", "a%b", "`", "\\", "(x)", "a?b", "a#b"):
        escaped = requests.utils.quote(id, safe="")
        made = rest.set(escaped, {})
        assert made["name"] == rest.name(id)
        assert rest.call("GET", rest.url(escaped))["name"] == rest.name(id)


def test_a_body_that_is_too_large(rest):
    answer = rest.call("PATCH", rest.url("big"), 400, data=b" " * 11_534_337)
    assert "Request payload size exceeds the limit: 11534336 bytes." in error(
        answer, "INVALID_ARGUMENT")


def test_a_long_answer_is_whole(rest, client):
    writer = client.bulk_writer()
    for n in range(2_000):
        writer.set(client.collection(rest.collection).document(f"d{n:05}"), {"t": "x" * 1_000})
    writer.close()
    rows = rest.custom("runQuery", query(rest))
    assert [row["document"]["name"] for row in rows] == [rest.name(f"d{n:05}") for n in range(2_000)]


def test_what_google_s_client_wrote(rest, client):
    client.collection(rest.collection).document("a").set({"b": b"\x00\xff", "f": [1, 2.5, {"x": None}]})
    assert rest.call("GET", rest.url("a"))["fields"] == {
        "b": {"bytesValue": "AP8="},
        "f": {"arrayValue": {"values": [{"integerValue": "1"}, {"doubleValue": 2.5}, {
            "mapValue": {"fields": {"x": {"nullValue": None}}}}]}}}


def curl(*arguments):
    done = subprocess.run(["curl", "-sS", *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_curl_without_any_header(rest):
    assert curl(f"http://{rest.host}/") == "Ok\n"
    body = json.dumps({"fields": {"n": {"integerValue": 1}}})
    made = json.loads(curl("-X", "PATCH", "-d", body, rest.url("c")))
    assert made["name"] == rest.name("c")
    assert json.loads(curl(rest.url("c"))) == made
    assert "\n" not in curl(rest.url("c") + "?prettyPrint=false").strip()


def test_the_emulator_s_way_to_clear_a_database(server):
    base = f"http://{server.host}/v1/projects/cleared/databases/(default)/documents/a/b"
    requests.patch(base, json={}, timeout=30).raise_for_status()
    clear = f"http://{server.host}/emulator/v1/projects/cleared/databases/(default)/documents"
    assert requests.delete(clear, timeout=30).status_code == 200
    assert requests.get(base, timeout=30).status_code == 404


# Pages.

def test_a_page_of_this_machine_may_call(rest):
    origin = "http://localhost:5173"
    answer = requests.options(rest.url("a"), timeout=30, headers={
        "origin": origin, "access-control-request-method": "PATCH",
        "access-control-request-headers": "x-goog-api-client,authorization",
        "access-control-request-private-network": "true"})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == origin
    assert answer.headers["access-control-allow-credentials"] == "true"
    assert answer.headers["access-control-allow-methods"] == "DELETE,GET,HEAD,PATCH,POST,PUT"
    assert answer.headers["access-control-allow-headers"] == "x-goog-api-client,authorization"
    assert answer.headers["access-control-allow-private-network"] == "true"
    answer = requests.patch(rest.url("a"), json={}, headers={"origin": origin}, timeout=30)
    assert answer.headers["access-control-allow-origin"] == origin
    answer = requests.get(rest.url("none"), headers={"origin": origin}, timeout=30)
    assert answer.headers["access-control-allow-origin"] == origin, "errors can be read too"


@pytest.mark.parametrize("headers", [
    {"origin": "https://evil.example"}, {"origin": "null"}, {"host": "evil.example"},
    {"origin": "http://localhost.evil.example"}])
@pytest.mark.parametrize("method", ["GET", "PATCH", "OPTIONS", "POST"])
def test_a_page_of_another_site_has_no_effect(rest, headers, method):
    rest.set("kept", {"n": {"integerValue": "1"}})
    path = rest.url("kept") if method != "POST" else f"{rest.base}:commit"
    body = {"writes": [{"delete": rest.name("kept")}]} if method == "POST" else {"fields": {}}
    answer = requests.request(method, path, data=json.dumps(body), timeout=30,
                              headers={**headers, "content-type": "text/plain"})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers
    assert rest.call("GET", rest.url("kept"))["fields"] == {"n": {"integerValue": "1"}}


# The hub.

def test_tools_find_the_emulators(server):
    found = requests.get(f"http://127.0.0.1:{server.control_port}/emulators", timeout=30).json()
    assert found["firestore"]["host"] == "127.0.0.1"
    assert found["firestore"]["port"] == server.port
    assert found["hub"]["port"] == server.control_port
    assert found["auth"]["port"] == server.accounts_port


def test_tools_turn_triggers_off_and_on(server):
    """Google's library for rules tests does this around code that must start no function."""
    hub = f"http://127.0.0.1:{server.control_port}/functions/"
    for name, enabled in (("disable", False), ("enable", True)):
        answer = requests.put(f"{hub}{name}BackgroundTriggers", timeout=30)
        assert (answer.status_code, answer.json()) == (200, {"enabled": enabled})
    assert requests.get(f"{hub}disableBackgroundTriggers", timeout=30).status_code == 404
