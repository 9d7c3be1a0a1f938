"""Replays of Firebase's clients for the web, Apple's systems and Android."""

import base64
import hashlib
import json
import os
import re
import socket

import google_crc32c
import pytest
import requests

from storage.dialects import BLOCK, Android

SIZES = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK, (1 << 20) + 77]


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


@pytest.mark.parametrize("size", SIZES)
def test_uploads_of_all_dialects_are_whole(device, name, size):
    data = os.urandom(size)
    made = device.upload(name, data)
    assert made["name"] == name
    assert made["size"] == str(size)
    assert made["md5Hash"] == md5(data)
    crc = google_crc32c.value(data).to_bytes(4, "big")
    assert made["crc32c"] == base64.b64encode(crc).decode()
    assert made["contentType"] == "image/png"
    assert re.fullmatch(r"\d{16}", made["generation"]) and made["metageneration"] == "1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made["timeCreated"])
    assert made["contentEncoding"] == "identity" and made["storageClass"] == "STANDARD"
    assert made["contentDisposition"].startswith("inline; filename*=utf-8''")
    assert device.metadata(name).json() == made
    assert device.download(name).content == data


@pytest.mark.parametrize("size", [0, 5, BLOCK])
def test_a_multipart_upload_of_the_web(web, name, size):
    data = os.urandom(size)
    made = web.multipart(name, data, metadata={
        "cacheControl": "no-store", "metadata": {"who": "ann"}, "md5Hash": md5(data)})
    assert made.status_code == 200, made.text
    assert made.json()["metadata"] == {"who": "ann"}
    assert made.json()["cacheControl"] == "no-store"
    assert web.download(name).content == data
    assert web.download(name).headers["Cache-Control"] == "no-store"


def test_a_plain_upload_takes_its_type_from_the_header(web, name):
    made = web.send("POST", web.url(name), b"text", Content_Type="text/plain")
    assert made.json()["contentType"] == "text/plain" and made.json()["size"] == "4"


def test_a_wrong_hash_makes_no_object(web, name):
    refused = web.multipart(name, b"bytes", metadata={"md5Hash": md5(b"other")})
    assert refused.status_code == 400
    assert web.metadata(name).status_code == 404


def test_a_bad_content_type_is_refused(web):
    answer = web.session.post(
        web.base, params={"name": "a"}, data=b"x",
        headers={"X-Goog-Upload-Protocol": "multipart", "Content-Type": "text/plain"})
    assert answer.status_code == 400 and answer.text.startswith("Bad content type. ")


# What an upload says about itself


def begin(device, name, data):
    return device.begin(name, data).headers["X-Goog-Upload-URL"]


def status(answer):
    return (answer.status_code, answer.headers.get("X-Goog-Upload-Status"),
            answer.headers.get("X-Goog-Upload-Size-Received"))


def test_a_query_says_how_far_it_is(device, name):
    data = os.urandom(3 * BLOCK)
    url = begin(device, name, data)
    assert status(device.later(url, "query")) == (200, "active", "0")
    device.later(url, "upload", data[:BLOCK], 0)
    assert status(device.later(url, "query")) == (200, "active", str(BLOCK))
    device.later(url, "upload, finalize", data[BLOCK:], BLOCK)
    final = device.later(url, "query")
    assert status(final) == (200, "final", str(len(data)))
    # The client for Apple's systems reads the metadata from this answer.
    assert final.json()["md5Hash"] == md5(data)


def test_a_repeated_end_has_the_same_answer(device, name):
    url = begin(device, name, b"data")
    first = device.later(url, "upload, finalize", b"data", 0)
    again = device.later(url, "upload, finalize", b"data", 0)
    assert first.json() == again.json() and status(again) == (200, "final", "4")
    assert device.later(url, "finalize", b"", 4).json() == first.json()


def test_a_chunk_that_is_sent_twice_is_refused_and_not_appended(device, name):
    data = os.urandom(2 * BLOCK)
    url = begin(device, name, data)
    device.later(url, "upload", data[:BLOCK], 0)
    again = device.later(url, "upload", data[:BLOCK], 0)
    assert status(again) == (400, "active", str(BLOCK))
    assert again.text == f"Client uploaded to the wrong offset (0 instead of {BLOCK})."
    made = device.later(url, "upload, finalize", data[BLOCK:], BLOCK).json()
    assert made["md5Hash"] == md5(data)


def test_a_gap_is_refused(device, name):
    url = begin(device, name, b"0123456789")
    assert status(device.later(url, "upload, finalize", b"6789", 6)) == (400, "active", "0")
    assert device.metadata(name).status_code == 404


def test_a_file_of_another_size_than_declared_is_refused(web, name):
    url = begin(web, name, b"0123456789")
    assert status(web.later(url, "upload, finalize", b"01234", 0)) == (400, "active", "0")
    assert status(web.later(url, "upload, finalize", b"0123456789X", 0)) == (400, "active", "0")
    assert status(web.later(url, "upload, finalize", b"0123456789", 0)) == (200, "final", "10")


def test_an_empty_rest_is_finalized_alone(device, name):
    url = begin(device, name, b"data")
    assert status(device.later(url, "upload", b"data", 0)) == (200, "active", "4")
    assert status(device.later(url, "finalize", b"", 4)) == (200, "final", "4")


def test_cancelled_uploads_stay_cancelled(device, name):
    url = begin(device, name, b"data")
    assert status(device.later(url, "cancel"))[:2] == (200, "cancelled")
    assert status(device.later(url, "cancel"))[:2] == (200, "cancelled")
    assert status(device.later(url, "query"))[:2] == (200, "cancelled")
    for command in ["upload", "upload, finalize", "finalize"]:
        assert device.later(url, command, b"", 0).status_code == 400
    url = begin(device, name, b"data")
    device.later(url, "upload, finalize", b"data", 0)
    assert device.later(url, "cancel").status_code == 400


def test_unknown_uploads_and_commands(device, name):
    url = begin(device, name, b"data")
    other = url.replace("upload_id=", "upload_id=x")
    assert device.later(other, "query").status_code == 404
    assert device.later(url, "dance").status_code == 400
    answer = requests.request(device.METHOD, url, data=b"data")
    assert answer.status_code == 400
    assert answer.text == "Invalid request.  X-Goog-Upload-Command header is missing."
    assert device.later(url, "upload, finalize", b"data", "x").status_code == 400


def test_a_cut_connection_leaves_whole_blocks(files, device, name):
    data = os.urandom(3 * BLOCK)
    url = begin(device, name, data)
    path = url.split(str(files.storage_port), 1)[1]
    with socket.create_connection(("127.0.0.1", files.storage_port)) as connection:
        connection.sendall(
            f"{device.METHOD} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(data)}\r\n"
            "X-Goog-Upload-Command: upload, finalize\r\nX-Goog-Upload-Offset: 0\r\n\r\n".encode())
        connection.sendall(data[:2 * BLOCK + 1000])
        # A query takes the place of the open request, so its answer is exact. A query that comes
        # before the server has seen that request answers 0, and the client asks again, as it does
        # after a wrong offset.
        for _ in range(20):
            answer = device.later(url, "query")
            received = int(answer.headers["X-Goog-Upload-Size-Received"])
            assert status(answer)[:2] == (200, "active") and received % BLOCK == 0
            assert received <= 2 * BLOCK
            made = device.later(url, "upload, finalize", data[received:], received)
            if made.status_code == 200:
                break
            assert "wrong offset" in made.text
    assert made.json()["md5Hash"] == md5(data)


def test_two_uploads_of_one_name(device, name):
    first, second = begin(device, name, b"11"), begin(device, name, b"2222")
    made = device.later(second, "upload, finalize", b"2222", 0).json()
    last = device.later(first, "upload, finalize", b"11", 0).json()
    assert int(last["generation"]) > int(made["generation"])
    assert device.download(name).content == b"11"
    # The object of the first to end is gone, but its client still learns that it was final.
    assert status(device.later(second, "query"))[:2] == (200, "final")


# Metadata, downloads and lists


def test_metadata_is_changed(files, name):
    android = Android(files)
    android.upload(name, b"data", metadata={"metadata": {"a": "1", "b": "2"}})
    changed = android.patch(name, {
        "contentType": None, "contentLanguage": "de", "metadata": {"a": None, "c": "3"},
        "size": "7", "unknown": True})
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert found["metageneration"] == "2" and found["size"] == "4"
    assert found["metadata"] == {"b": "2", "c": "3"} and found["contentLanguage"] == "de"
    assert found["contentType"] == "application/octet-stream"
    assert android.metadata(name).json() == found
    assert android.patch("missing", {}).status_code == 404


def test_objects_are_deleted(web, name):
    web.multipart(name, b"data")
    assert web.delete(name).status_code == 204
    missing = web.delete(name)
    assert missing.status_code == 404 and missing.json()["error"]["code"] == 404
    assert web.download(name).status_code == 404


def test_a_download_token_is_the_only_permission_that_a_link_needs(web, name):
    made = web.multipart(name, b"data").json()
    token = made["downloadTokens"]
    link = web.url(name) + f"?alt=media&token={token}"
    assert requests.get(link).content == b"data"
    revoked = web.send(
        "POST", web.url(name) + f"?delete_token={token}", Authorization="Bearer owner").json()
    assert revoked["downloadTokens"] not in ("", token)
    created = web.send(
        "POST", web.url(name) + "?create_token=true", Authorization="Firebase owner").json()
    assert len(created["downloadTokens"].split(",")) == 2
    refused = web.send("POST", web.url(name) + "?create_token=true")
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "Missing admin credentials."


def test_given_tokens_are_kept(web, name):
    made = web.multipart(name, b"data", metadata={
        "metadata": {"firebaseStorageDownloadTokens": "one,two", "k": "v"}}).json()
    assert made["downloadTokens"] == "one,two" and made["metadata"] == {"k": "v"}


def test_ranges(web, name):
    data = os.urandom(1000)
    web.multipart(name, data)
    part = web.download(name, Range="bytes=0-9")
    assert part.status_code == 206 and part.content == data[:10]
    assert part.headers["Content-Range"] == "bytes 0-9/1000"
    assert web.download(name, Range="bytes=990-").content == data[990:]
    assert web.download(name, Range="bytes=-5").content == data[-5:]
    assert web.download(name, Range="bytes=0-5000").content == data
    beyond = web.download(name, Range="bytes=1000-")
    assert beyond.status_code == 416 and beyond.headers["Content-Range"] == "bytes */1000"
    tag = web.download(name).headers["ETag"]
    assert web.download(name, If_None_Match=tag).status_code == 304
    assert web.download(name, Range="bytes=0-9", If_Range='"other"').status_code == 200
    assert web.download(name, Range="bytes=0-9", If_Range=tag).status_code == 206


def test_an_uploaded_page_has_no_rights(web, name):
    """A page of this machine may call the other ports, so a page that anybody uploads may not be one."""
    web.multipart(name, b"<script>1</script>", kind="text/html")
    headers = web.download(name).headers
    assert headers["Content-Security-Policy"] == "sandbox"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_lists(web, name):
    folder = name.split("/")[1].split(" ")[0]
    for part in ["a", "b/c", "b/d", "e//f", "g/", "z"]:
        web.multipart(f"{folder}/{part}", b"x")
    found = web.list(prefix=f"{folder}/", delimiter="/").json()
    assert found["prefixes"] == [f"{folder}/b/", f"{folder}/e/", f"{folder}/g/"]
    assert found["items"] == [
        {"name": f"{folder}/{part}", "bucket": "interop.appspot.com"} for part in ["a", "z"]]
    whole = web.list(prefix=f"{folder}/").json()
    assert [item["name"].removeprefix(folder + "/") for item in whole["items"]] == [
        "a", "b/c", "b/d", "z"], "names with empty segments are hidden"
    assert web.list(prefix=folder).status_code == 400
    assert web.list(prefix=f"{folder}-none/").json() == {"prefixes": [], "items": []}
    names, token = [], None
    while True:
        query = {"pageToken": token} if token else {}
        page = web.list(prefix=f"{folder}/", maxResults=2, **query).json()
        names += [item["name"] for item in page["items"]]
        token = page.get("nextPageToken")
        if token is None:
            break
    assert names == [item["name"] for item in whole["items"]]
    assert web.list(pageToken="?").status_code == 400


@pytest.mark.parametrize("odd", [
    "+ % # ? é", "e\u0301", "\u00e9", "a//b", "x/../y", " ", "🙂", "n" * 1024, "a/", "%2F"])
def test_odd_names(device, odd):
    data = odd.encode()
    assert device.upload(odd, data)["name"] == odd
    assert device.download(odd).content == data
    assert device.delete(odd).status_code == 204


@pytest.mark.parametrize("bad", ["n" * 1025, "é" * 513, "a\nb", ".", ".."])
def test_names_that_cannot_be(web, bad):
    assert web.begin(bad, b"").status_code == 400


def test_metadata_is_bounded(web, name):
    large = web.begin(name, b"", metadata={"metadata": {"k": "v" * 9000}})
    assert large.status_code == 400
    assert web.begin(name, b"", metadata={"cacheControl": "x" * 3000}).status_code == 400
    huge = web.session.post(
        web.base, params={"name": name}, data=b"{" + b" " * 200_000 + b"}",
        headers={"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"})
    assert huge.status_code == 413


def test_pages_may_read_the_headers(files, web, name):
    origin = "http://localhost:3000"
    answer = requests.options(web.base, headers={
        "Origin": origin, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-goog-upload-command",
        "Access-Control-Request-Private-Network": "true"})
    assert answer.headers["Access-Control-Allow-Origin"] == origin
    assert answer.headers["Access-Control-Allow-Headers"] == "x-goog-upload-command"
    assert answer.headers["Access-Control-Allow-Private-Network"] == "true"
    begun = web.session.post(
        web.base, params={"name": name}, data="{}",
        headers={"Origin": origin, "X-Goog-Upload-Protocol": "resumable",
                 "X-Goog-Upload-Command": "start"})
    exposed = begun.headers["Access-Control-Expose-Headers"].lower().split(", ")
    for header in begun.headers:
        if header.lower().startswith("x-g"):
            assert header.lower() in exposed, header
    elsewhere = requests.get(web.base, headers={"Origin": "https://elsewhere.example"})
    assert elsewhere.status_code == 403


def test_the_hub_names_the_port(files):
    found = requests.get(f"http://127.0.0.1:{files.control_port}/emulators").json()
    assert found["storage"]["port"] == files.storage_port
    alive = requests.get(f"http://127.0.0.1:{files.storage_port}/v0/").json()
    assert alive == {"emulator": "storage"}


def test_values_that_are_null_are_ignored(ios, name):
    body = {key: None for key in [
        "contentType", "cacheControl", "contentDisposition", "contentEncoding", "contentLanguage",
        "md5Hash", "metadata"]}
    made = ios.upload(name, b"data", metadata=body)
    assert made["contentType"] == "image/png" and "metadata" not in made
    assert json.loads(json.dumps(made)) == ios.metadata(name).json()


