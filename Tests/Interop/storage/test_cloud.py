"""Google's client of Cloud Storage for Python."""

import base64
import hashlib
import io
import os
import uuid

import pytest
import requests
from google.api_core import exceptions

from storage.conftest import connect

MIB = 1 << 20
BLOCK = 256 << 10


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


@pytest.mark.parametrize("size", [0, 1, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1])
def test_uploads_are_downloaded(bucket, name, size):
    data = os.urandom(size)
    blob = bucket.blob(name)
    blob.upload_from_string(data, content_type="image/png", checksum="md5")
    assert (blob.size, blob.md5_hash, blob.content_type) == (size, md5(data), "image/png")
    found = bucket.get_blob(name)
    assert found.generation == blob.generation and found.metageneration == 1
    assert found.download_as_bytes() == data
    assert found.download_as_bytes(checksum="crc32c") == data


@pytest.mark.parametrize("size", [0, 1, BLOCK, MIB - 1, MIB + 1])
@pytest.mark.parametrize("known", [True, False], ids=["known size", "unknown size"])
def test_uploads_in_chunks(bucket, name, size, known):
    data = os.urandom(size)
    blob = bucket.blob(name, chunk_size=BLOCK)
    stream = io.BytesIO(data)
    blob.upload_from_file(stream, size=size if known else None, checksum="crc32c")
    assert blob.size == size and blob.md5_hash == md5(data)
    assert bucket.blob(name).download_as_bytes() == data


def test_a_file_that_is_written_piece_by_piece(bucket, name):
    data = os.urandom(3 * MIB + 7)
    with bucket.blob(name).open("wb", chunk_size=BLOCK) as file:
        for start in range(0, len(data), 100_000):
            file.write(data[start:start + 100_000])
    with bucket.blob(name).open("rb", chunk_size=BLOCK) as file:
        file.seek(MIB)
        assert file.read(1000) == data[MIB:MIB + 1000]
        file.seek(0)
        assert file.read() == data


def test_ranges(bucket, name):
    data = os.urandom(1000)
    blob = bucket.blob(name)
    blob.upload_from_string(data)
    assert blob.download_as_bytes(start=10, end=19) == data[10:20]
    assert blob.download_as_bytes(start=990) == data[990:]
    assert blob.download_as_bytes(start=-10) == data[-10:]
    with pytest.raises(exceptions.RequestRangeNotSatisfiable):
        blob.download_as_bytes(start=1000)


def test_a_chunked_download(bucket, name):
    data = os.urandom(MIB + 1)
    bucket.blob(name).upload_from_string(data)
    assert bucket.blob(name, chunk_size=BLOCK).download_as_bytes() == data
    bucket.blob(name).upload_from_string(b"")
    assert bucket.blob(name, chunk_size=BLOCK).download_as_bytes() == b""


def test_lists_with_a_delimiter(files):
    bucket = connect(files).bucket("lists-" + uuid.uuid4().hex)
    for name in ["a", "b/1", "b/2", "c/d/1", "e/"]:
        bucket.blob(name).upload_from_string(b"x")
    found = bucket.list_blobs(delimiter="/")
    assert [blob.name for blob in found] == ["a"]
    assert found.prefixes == {"b/", "c/", "e/"}
    assert [blob.name for blob in bucket.list_blobs(prefix="b/")] == ["b/1", "b/2"]
    assert [blob.name for blob in bucket.list_blobs(page_size=2)] == [
        "a", "b/1", "b/2", "c/d/1", "e/"]
    assert [blob.name for blob in bucket.list_blobs(start_offset="b/2", end_offset="e")] == [
        "b/2", "c/d/1"]
    assert [blob.name for blob in bucket.list_blobs(
        delimiter="/", include_trailing_delimiter=True)] == ["a", "e/"]
    assert [blob.name for blob in bucket.list_blobs(max_results=3)] == ["a", "b/1", "b/2"]


def test_metadata(bucket, name):
    blob = bucket.blob(name)
    blob.metadata = {"who": "ann", "é": "ü"}
    blob.cache_control = "no-store"
    blob.upload_from_string(b"x", content_type="text/plain")
    blob.metadata = {"who": "bob"}
    blob.content_language = "de"
    blob.patch()
    found = bucket.get_blob(name)
    assert found.metadata["who"] == "bob" and found.content_language == "de"
    assert found.metageneration == 2 and found.cache_control == "no-store"
    found.update()
    assert bucket.get_blob(name).metageneration == 3
    assert bucket.get_blob(name).content_language == "de"


def test_copies_and_renames(bucket, name):
    data = os.urandom(1000)
    blob = bucket.blob(name)
    blob.metadata = {"k": "v"}
    blob.upload_from_string(data, content_type="image/png")
    copy = bucket.copy_blob(blob, bucket, name + "-copy")
    assert copy.download_as_bytes() == data
    assert bucket.get_blob(copy.name).content_type == "image/png"
    renamed = bucket.rename_blob(copy, name + "-renamed")
    assert renamed.download_as_bytes() == data and not copy.exists()
    rewritten = bucket.blob(name + "-rewritten")
    token, done, total = rewritten.rewrite(blob)
    assert (token, done, total) == (None, 1000, 1000)
    assert rewritten.download_as_bytes() == data
    assert bucket.get_blob(rewritten.name).metadata == {"k": "v"}
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob(name + "-2").rewrite(blob, if_source_generation_match=1)
    with pytest.raises(exceptions.NotFound):
        bucket.blob(name + "-2").rewrite(bucket.blob(name + "-none"))


def test_compositions(bucket, name):
    parts = []
    data = [os.urandom(size) for size in (0, 1, MIB + 3)]
    for number, part in enumerate(data):
        blob = bucket.blob(f"{name}-{number}")
        blob.upload_from_string(part)
        parts.append(blob)
    whole = bucket.blob(name)
    whole.content_type = "image/png"
    whole.compose(parts)
    assert whole.download_as_bytes() == b"".join(data)
    found = bucket.get_blob(name)
    assert found.component_count == 3 and found.md5_hash is None
    assert found.content_type == "image/png"
    with pytest.raises(exceptions.NotFound):
        bucket.blob(name).compose([bucket.blob(name + "-none")])
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob(name).compose(parts, if_generation_match=0)


def test_preconditions(bucket, name):
    blob = bucket.blob(name)
    blob.upload_from_string(b"1", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob(name).upload_from_string(b"2", if_generation_match=0)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob(name, chunk_size=BLOCK).upload_from_file(
            io.BytesIO(b"2"), if_generation_match=0)
    assert bucket.blob(name).download_as_bytes() == b"1"
    blob.upload_from_string(b"3", if_generation_match=blob.generation)
    with pytest.raises(exceptions.PreconditionFailed):
        blob.delete(if_generation_match=1)
    with pytest.raises(exceptions.PreconditionFailed):
        blob.patch(if_metageneration_match=7)
    with pytest.raises(exceptions.NotModified):
        blob.reload(if_generation_not_match=blob.generation)
    with pytest.raises(exceptions.NotFound):
        bucket.blob(name, generation=5).download_as_bytes()
    assert bucket.blob(name).download_as_bytes() == b"3"


def test_a_wrong_checksum_makes_no_object(bucket, name):
    blob = bucket.blob(name)
    blob.md5_hash = md5(b"other")
    with pytest.raises(exceptions.BadRequest):
        blob.upload_from_string(b"data")
    assert not bucket.blob(name).exists()


def test_deletes_in_a_batch(files, bucket, name):
    blobs = [bucket.blob(f"{name}-{number}") for number in range(20)]
    for blob in blobs:
        blob.upload_from_string(b"x")
    with bucket.client.batch():
        for blob in blobs:
            bucket.delete_blob(blob.name)
    assert not any(blob.exists() for blob in blobs)
    with pytest.raises(exceptions.NotFound):
        with bucket.client.batch():
            bucket.delete_blob(blobs[0].name)


def test_buckets(files):
    client = connect(files)
    name = "made-" + uuid.uuid4().hex
    bucket = client.bucket(name)
    assert not bucket.exists()
    client.create_bucket(name)
    assert bucket.exists() and name in [found.name for found in client.list_buckets()]
    assert client.get_bucket(name).name == name
    with pytest.raises(exceptions.Conflict):
        client.create_bucket(name)
    bucket.blob("a").upload_from_string(b"x")
    with pytest.raises(exceptions.Conflict):
        bucket.delete()
    bucket.delete(force=True)
    assert not bucket.exists()
    with pytest.raises(exceptions.NotFound):
        client.get_bucket(name)
    assert client.get_bucket("demo.appspot.com").name == "demo.appspot.com"


def test_missing_objects(bucket, name):
    blob = bucket.blob(name)
    assert not blob.exists() and bucket.get_blob(name) is None
    for call in [blob.reload, blob.delete, blob.download_as_bytes, blob.patch]:
        with pytest.raises(exceptions.NotFound):
            call()
    missing = requests.get(f"{bucket.client._connection.API_BASE_URL}/storage/v1/b/x/o/y").json()
    assert missing["error"]["errors"][0]["reason"] == "notFound"
    assert missing["error"]["message"] == "No such object: x/y"


def test_a_resumable_upload_step_by_step(files, bucket, name):
    """The protocol itself, where the client for Python does not go."""
    data = os.urandom(3 * BLOCK)
    base = f"http://127.0.0.1:{files.storage_port}/upload/storage/v1/b/{bucket.name}/o"
    begun = requests.post(base, params={"uploadType": "resumable", "name": name}, json={})
    url = begun.headers["Location"]

    def put(range, body=b"", **headers):
        return requests.put(url, data=body, headers={"Content-Range": range, **headers})

    asked = put("bytes */*")
    assert asked.status_code == 308 and "Range" not in asked.headers
    assert put(f"bytes 0-{BLOCK - 1}/*", data[:BLOCK]).headers["Range"] == f"bytes=0-{BLOCK - 1}"
    # Bytes that are stored already are skipped.
    again = put(f"bytes 0-{2 * BLOCK - 1}/*", data[:2 * BLOCK])
    assert again.status_code == 308 and again.headers["Range"] == f"bytes=0-{2 * BLOCK - 1}"
    beyond = put(f"bytes {3 * BLOCK}-{4 * BLOCK - 1}/*", data[:BLOCK])
    assert beyond.status_code == 503
    assert beyond.text == (
        "Invalid request. According to the Content-Range header, the upload offset is "
        f"{3 * BLOCK} byte(s), which exceeds already uploaded size of {2 * BLOCK} byte(s).")
    override = put("bytes */*", **{"X-GUploader-No-308": "yes"})
    assert override.status_code == 200
    assert override.headers["X-HTTP-Status-Code-Override"] == "308"
    assert put(f"bytes */{BLOCK}").status_code == 308, "another size than the stored one"
    made = put(f"bytes {2 * BLOCK}-{3 * BLOCK - 1}/{3 * BLOCK}", data[2 * BLOCK:])
    assert made.status_code == 200 and made.json()["md5Hash"] == md5(data)
    assert put("bytes */*").json() == made.json()
    assert put(f"bytes 0-{BLOCK - 1}/*", data[:BLOCK]).json() == made.json()
    begun = requests.post(base, params={"uploadType": "resumable", "name": name}, json={})
    assert requests.delete(begun.headers["Location"]).status_code == 499
    assert requests.delete(begun.headers["Location"]).status_code == 499
    assert requests.put(begun.headers["Location"], data=b"x").status_code == 410


def test_the_plain_address_of_an_object(files, bucket):
    url = f"http://127.0.0.1:{files.storage_port}/{bucket.name}/plain/{uuid.uuid4().hex}"
    assert requests.put(url + "?X-Goog-Signature=x", data=b"data", headers={
        "Content-Type": "text/plain", "x-goog-meta-who": "ann"}).status_code == 200
    found = requests.get(url + "?X-Goog-Signature=x")
    assert found.content == b"data" and found.headers["Content-Type"] == "text/plain"
    blob = bucket.get_blob(url.split(bucket.name + "/")[1])
    assert blob.metadata == {"who": "ann"}
    assert requests.delete(url).status_code == 204
    assert requests.get(url).status_code == 404


def test_both_apis_see_one_object(bucket, web, name):
    made = web.multipart(name, b"data", metadata={"metadata": {"k": "v"}}).json()
    blob = bucket.get_blob(name)
    assert str(blob.generation) == made["generation"] and blob.crc32c == made["crc32c"]
    assert blob.metadata == {
        "k": "v", "firebaseStorageDownloadTokens": made["downloadTokens"]}
    blob.metadata = {"firebaseStorageDownloadTokens": "mine"}
    blob.patch()
    assert web.metadata(name).json()["downloadTokens"] == "mine"
    copy = bucket.copy_blob(blob, bucket, name + "-copy")
    assert web.metadata(copy.name).json()["downloadTokens"] == "mine"


