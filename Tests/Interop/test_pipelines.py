"""Pipelines by Google's Python client and by REST, on a server of the Enterprise edition."""

import asyncio
import json
import re
import subprocess
import urllib.error
import urllib.request

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1.pipeline_expressions import Constant, Count, Field
from google.cloud.firestore_v1.query_profile import PipelineExplainOptions

from conftest import BINARY, ROOT, Server


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("shop"), 0, "--edition", "enterprise")
    yield server
    server.stop()


@pytest.fixture
def books(shop):
    client = shop.client()
    books = client.collection("books")
    for name, author, year in (("a", "Orwell", 1949), ("b", "Orwell", 1945), ("c", "Lem", 1961)):
        books.document(name).set({"author": author, "year": year})
    return books


def years(rows):
    return [row.data()["year"] for row in rows]


def test_rows_of_documents_and_rows_of_groups(books):
    pipeline = books._client.pipeline().collection("books")
    rows = pipeline.where(Field.of("year").greater_than(1945)).sort(Field.of("year").descending())
    found = list(rows.execute())
    assert years(found) == [1961, 1949]
    assert found[0].ref.path == "books/c" and found[0].update_time is not None
    groups = pipeline.aggregate(Count().as_("n"), groups=["author"]).sort(Field.of("n").ascending())
    found = list(groups.execute())
    assert [row.data() for row in found] == [{"author": "Lem", "n": 1}, {"author": "Orwell", "n": 2}]
    assert found[0].ref is None


def test_the_asynchronous_client(shop, books):
    async def run():
        client = shop.async_client()
        rows = client.pipeline().collection("books").sort(Field.of("year").ascending())
        found = [row.data()["year"] async for row in rows.stream()]
        await client._firestore_api.transport.close()
        return found

    assert asyncio.run(run()) == [1945, 1949, 1961]


def test_a_past_time(books):
    time = books.document("a").get().read_time
    pipeline = books._client.pipeline().collection("books").sort(Field.of("year").ascending())
    books.document("a").delete()
    assert years(pipeline.execute()) == [1945, 1961]
    assert years(pipeline.execute(read_time=time)) == [1945, 1949, 1961]


def test_an_explanation(books):
    pipeline = books._client.pipeline().collection("books")
    told = pipeline.execute(explain_options=PipelineExplainOptions())
    assert len(list(told)) == 3 and "documents read: 3" in told.explain_stats.get_text()
    told = pipeline.execute(explain_options=PipelineExplainOptions(mode="explain"))
    assert list(told) == [] and told.explain_stats.get_text().startswith("Plan:")


def test_more_rows_than_one_message_holds(shop):
    client = shop.client()
    batch = client.bulk_writer()
    for number in range(3_000):
        batch.set(client.document(f"many/{number:05}"), {"n": number, "text": "x" * 300})
    batch.close()
    rows = list(client.pipeline().collection("many").sort(Field.of("n").descending()).execute())
    assert [row.data()["n"] for row in rows] == list(range(2_999, -1, -1))


def test_an_unknown_stage_is_refused(books):
    pipeline = books._client.pipeline().collection("books").raw_stage("frobnicate", Constant.of(1))
    with pytest.raises(exceptions.InvalidArgument, match="frobnicate"):
        pipeline.execute()


def test_changes(books):
    client = books._client
    told = list(client.pipeline().collection("books").where(
        Field.of("author").equal("Orwell")).delete().execute())
    assert [row.data() for row in told] == [{"documents_modified": 2}]
    assert [each.id for each in books.stream()] == ["c"]


def post(server, body, status=200, project="interop", database="(default)"):
    url = (f"http://{server.host}/v1/projects/{project}/databases/{database}"
           "/documents:executePipeline")
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == status
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        assert error.code == status, error.read()
        return json.loads(error.read())


def stages(*each):
    return {"structuredPipeline": {"pipeline": {"stages": [
        {"name": name, "args": list(args)} for name, *args in each]}}}


def test_rest(shop, books):
    everything = ("collection", {"referenceValue": "/books"})
    condition = {"functionValue": {"name": "equal", "args": [
        {"fieldReferenceValue": "year"}, {"integerValue": "1961"}]}}
    (part,) = post(shop, stages(everything, ("where", condition)))
    (row,) = part["results"]
    assert row["name"].endswith("/documents/books/c")
    assert row["fields"]["author"] == {"stringValue": "Lem"} and row["updateTime"]
    assert part["executionTime"]
    # A row without fields has a map of them: Google's client for JavaScript drops it otherwise.
    nothing = ("select", {"mapValue": {"fields": {"x": {"fieldReferenceValue": "no"}}}})
    (part,) = post(shop, stages(everything, ("where", condition), nothing))
    assert part["results"] == [{"fields": {}}]


def test_a_deep_pipeline_is_refused_over_rest(shop):
    value = {"fieldReferenceValue": "a"}
    for _ in range(150):
        value = {"functionValue": {"name": "not", "args": [value]}}
    answer = post(shop, stages(("collection", {"referenceValue": "/books"}), ("where", value)), 400)
    assert answer[0]["error"]["status"] == "INVALID_ARGUMENT"


def test_editions_of_firebase_json(tmp_path):
    (tmp_path / "firebase.json").write_text(json.dumps({"firestore": [
        {"database": "(default)"}, {"database": "shop", "edition": "enterprise"}]}))
    server = Server(tmp_path, 0, "--firebase-json", tmp_path / "firebase.json")
    pipeline = stages(("collection", {"referenceValue": "/books"}))
    answer = post(server, pipeline, 400)
    assert answer[0]["error"]["details"][0]["reason"] == "PIPELINE_REQUIRES_ENTERPRISE_EDITION"
    assert "executionTime" in post(server, pipeline, database="shop")[0]
    server.stop()
    (tmp_path / "firebase.json").write_text(json.dumps({
        "emulators": {"firestore": {"edition": "premium"}}}))
    refused = subprocess.run(
        [BINARY, "serve", "--memory", "--firebase-json", tmp_path / "firebase.json"],
        capture_output=True, text=True, timeout=30)
    assert refused.returncode == 1
    assert "must be either 'standard' or 'enterprise'" in refused.stderr


def test_the_commands_of_the_page(shop):
    text = (ROOT / "Documentation/Pipelines.md").read_text()
    (block,) = [each for each in re.findall(r"```sh\n(.*?)```", text, re.S) if "curl" in each]
    block = block.replace("127.0.0.1:8080", shop.host)
    done = subprocess.run(["bash", "-euc", block], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout[done.stdout.rindex("[{"):])[0]["results"]
    assert [row["fields"] for row in rows] == [
        {"floor": {"integerValue": "1"}, "rooms": {"integerValue": "2"}},
        {"floor": {"integerValue": "2"}, "rooms": {"integerValue": "1"}}]
