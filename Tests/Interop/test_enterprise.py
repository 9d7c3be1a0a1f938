"""Large documents and their bills on databases of the Enterprise edition."""

import pytest
import requests

from conftest import Server

MIB = 1 << 20


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("large"), 0, "--edition", "enterprise")
    yield server
    server.stop()


def url(server, id):
    return f"http://{server.host}/v1/projects/interop/databases/(default)/documents/large/{id}"


def patch(server, id, fields):
    return requests.patch(url(server, id), json={"fields": fields}, timeout=60)


@pytest.mark.parametrize("kind", ["stringValue", "bytesValue"])
def test_a_document_of_15_mib_over_rest(shop, kind):
    size = 15 * MIB
    # Base64 of zeros: four characters for three bytes.
    value = "b" * size if kind == "stringValue" else "A" * (size * 4 // 3)
    written = patch(shop, kind, {"data": {kind: value}})
    assert written.status_code == 200, written.text[:500]
    read = requests.get(url(shop, kind), timeout=60)
    assert read.status_code == 200
    assert read.json()["fields"]["data"][kind] == value
    # Google's client reads the same bytes over gRPC.
    data = shop.client().document(f"large/{kind}").get().get("data")
    assert data == ("b" * size if kind == "stringValue" else bytes(size))


def test_a_document_above_16_mib_is_refused_with_its_size(shop):
    refused = patch(shop, "too-large", {"data": {"stringValue": "b" * (16 * MIB + 1)}})
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert "16777216" in message or "longer than" in message, message
    assert requests.get(url(shop, "too-large"), timeout=30).status_code == 404


def test_a_body_above_24_mib_is_refused_with_the_limit(shop):
    refused = patch(shop, "huge", {"data": {"bytesValue": "A" * (24 * MIB)}})
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert message == "Request payload size exceeds the limit: 25165824 bytes.", message


def test_the_standard_edition_keeps_its_limits(server):
    large = patch(server, "standard", {"data": {"stringValue": "b" * (MIB + 1)}})
    assert large.status_code == 400, large.text[:300]
    huge = patch(server, "standard", {"data": {"stringValue": "b" * (12 * MIB)}})
    assert huge.json()["error"]["message"] == "Request payload size exceeds the limit: 11534336 bytes."
