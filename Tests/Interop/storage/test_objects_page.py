"""The console's page of objects: lists, metadata, pictures and open uploads."""

import base64
import uuid

import requests

from storage.dialects import BLOCK, Android

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg==")


def page(server, path, **query):
    return requests.get(f"http://127.0.0.1:{server.control_port}/{path}", params=query)


def test_objects_are_shown_by_folder(files, web):
    folder = uuid.uuid4().hex
    web.multipart(f"{folder}/a<b>.png", PNG)
    web.multipart(f"{folder}/deep/c.txt", b"text", kind="text/plain")
    found = page(files, "objects.json", bucket="interop.appspot.com", prefix=f"{folder}/").json()
    assert [row["name"] for row in found["objects"]] == [f"{folder}/a<b>.png"]
    assert found["folders"] == [f"{folder}/deep/"]
    assert found["objects"][0]["size"] == len(PNG)
    text = page(files, "objects", bucket="interop.appspot.com", prefix=f"{folder}/").text
    assert "a&lt;b&gt;.png" in text and "a<b>" not in text
    details = page(files, "objects.json", bucket="interop.appspot.com", name=f"{folder}/a<b>.png")
    assert details.json()["md5Hash"] and details.json()["tokens"] == 1
    assert "<img" in page(
        files, "objects", bucket="interop.appspot.com", name=f"{folder}/a<b>.png").text


def test_only_pictures_are_shown(files, web):
    name = uuid.uuid4().hex
    web.multipart(name, PNG)
    shown = page(files, "picture", bucket="interop.appspot.com", name=name)
    assert shown.content == PNG and shown.headers["Content-Type"] == "image/png"
    web.multipart(name, b"<svg onload='x'>", kind="image/png")
    assert page(files, "picture", bucket="interop.appspot.com", name=name).status_code == 404


def test_open_uploads_are_listed_without_their_addresses(files):
    name = uuid.uuid4().hex
    android = Android(files)
    url = android.begin(name, b"").headers["X-Goog-Upload-URL"]
    android.later(url, "upload", bytes(BLOCK), 0)
    listed = page(files, "objects.json")
    row = next(row for row in listed.json()["uploads"] if row["name"] == name)
    assert row["received"] == BLOCK and "declared" not in row
    assert url.split("upload_id=")[1].split("&")[0] not in listed.text


def test_a_server_without_files_says_so(server):
    assert page(server, "objects").status_code == 404
    assert "--storage" in page(server, "objects").text


def test_missing_objects(files):
    assert page(files, "objects", bucket="interop.appspot.com", name="none").status_code == 404
