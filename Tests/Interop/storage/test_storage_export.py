"""Exports with files, in the form of Firebase's emulator."""

import base64
import hashlib
import json
import os
import subprocess
from urllib.parse import quote

import pytest

from conftest import BINARY, Server
from storage.dialects import BLOCK, Web


def md5(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


@pytest.fixture
def export(tmp_path):
    """An export of a server with files, as its end writes it."""
    (tmp_path / "data").mkdir()
    server = Server(
        tmp_path / "data", 0, "--storage", "--export-on-exit", tmp_path / "export")
    web = Web(server)
    data = {"a/é b.png": os.urandom(2 * BLOCK + 1), "empty": b"", "a//b": b"odd"}
    for name, bytes in data.items():
        web.multipart(name, bytes, metadata={
            "cacheControl": "no-store", "metadata": {"who": "ann"}})
    before = {name: web.metadata(name).json() for name in data}
    server.stop()
    assert server.process.returncode == 0
    return tmp_path / "export", data, before


def test_an_export_has_the_official_form(export):
    folder, data, before = export
    listing = json.loads((folder / "firebase-export-metadata.json").read_text())
    assert listing["storage"]["path"] == "storage_export"
    root = folder / "storage_export"
    assert json.loads((root / "buckets.json").read_text()) == {
        "buckets": [{"id": "interop.appspot.com"}]}
    found = {}
    for path in (root / "metadata").iterdir():
        metadata = json.loads(path.read_text())
        found[metadata["name"]] = metadata
        bytes = (root / "blobs" / path.name.removesuffix(".json")).read_bytes()
        assert bytes == data[metadata["name"]]
        assert metadata["size"] == len(bytes) and metadata["md5Hash"] == md5(bytes)
    assert found.keys() == data.keys()
    one = found["empty"]
    assert one["crc32c"] == "0" and one["customMetadata"] == {"who": "ann"}
    assert one["downloadTokens"] == [before["empty"]["downloadTokens"]]
    assert one["timeCreated"] == before["empty"]["timeCreated"]


def test_an_export_comes_back(export, tmp_path):
    folder, data, before = export
    (tmp_path / "again").mkdir()
    server = Server(tmp_path / "again", 0, "--storage", "--import", folder,
                    "--export-on-exit", tmp_path / "export2")
    web = Web(server)
    for name, bytes in data.items():
        assert web.download(name).content == bytes
        found = web.metadata(name).json()
        for key in ["downloadTokens", "md5Hash", "contentType", "metadata", "timeCreated", "updated"]:
            assert found[key] == before[name][key], key
    server.stop()
    names = {path.name for path in (folder / "storage_export/blobs").iterdir()}
    assert names == {path.name for path in (tmp_path / "export2/storage_export/blobs").iterdir()}


def official(folder, entries):
    """An export as Firebase's emulator has written it, in one of its forms."""
    root = folder / "storage_export"
    for path, metadata, data in entries:
        for place, content in [(root / "blobs" / path, data),
                               (root / "metadata" / (path + ".json"), json.dumps(metadata).encode())]:
            if content is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
    (root / "buckets.json").write_text(json.dumps({"buckets": [{"id": "old.appspot.com"}]}))
    (folder / "firebase-export-metadata.json").write_text(json.dumps({
        "version": "15.0.0", "storage": {"version": "15.0.0", "path": "storage_export"}}))


def metadata(name, data, **more):
    return {"name": name, "bucket": "old.appspot.com", "contentType": "image/png",
            "metageneration": 1, "generation": 1495811875731, "storageClass": "STANDARD",
            "contentDisposition": "inline", "downloadTokens": ["t1", "t2"], "etag": "x",
            "timeCreated": "2017-05-26T15:17:55.540Z", "updated": "2017-05-26T15:17:55.540Z",
            "size": len(data), "md5Hash": md5(data), "crc32c": "123", **more}


def test_older_exports_are_read(tmp_path):
    (tmp_path / "old").mkdir()
    official(tmp_path / "old", [
        ("5e9b1c", metadata("new/form", b"1"), b"1"),
        (quote("old.appspot.com/escaped/a b", safe=""), metadata("escaped/a b", b"22"), b"22"),
        ("old.appspot.com/nested/c", metadata("nested/c", b"333"), b"333"),
        ("old.appspot.com%5Cwindows", metadata("windows", b"4"), b"4"),
        ("missing", metadata("missing", b""), None),
    ])
    (tmp_path / "data").mkdir()
    with open(tmp_path / "log", "w") as log:
        server = Server(
            tmp_path / "data", 0, "--storage", "--import", tmp_path / "old", stderr=log)
    web = Web(server, bucket="old.appspot.com")
    for name, data in {"new/form": b"1", "escaped/a b": b"22", "nested/c": b"333",
                       "windows": b"4"}.items():
        assert web.download(name).content == data
    found = web.metadata("new/form").json()
    assert found["downloadTokens"] == "t1,t2" and found["timeCreated"] == "2017-05-26T15:17:55.540Z"
    assert web.metadata("missing").status_code == 404
    server.stop()
    text = (tmp_path / "log").read_text()
    assert "imported 4 files" in text and "was skipped" in text


@pytest.mark.parametrize("damage", ["hash", "json", "name", "link"])
def test_damaged_exports_are_refused(tmp_path, damage):
    (tmp_path / "old").mkdir()
    more = {"md5Hash": md5(b"other")} if damage == "hash" else {}
    name = "" if damage == "name" else "a"
    official(tmp_path / "old", [("id", metadata(name, b"1", **more), b"1")])
    root = tmp_path / "old/storage_export"
    if damage == "json":
        (root / "metadata/id.json").write_text("{")
    if damage == "link":
        (root / "blobs/id").unlink()
        (root / "blobs/id").symlink_to("/etc/passwd")
    (tmp_path / "data").mkdir()
    if damage == "link":
        # A link is no file, so the object is skipped.
        server = Server(tmp_path / "data", 0, "--storage", "--import", tmp_path / "old")
        assert Web(server, bucket="old.appspot.com").metadata("a").status_code == 404
        server.stop()
        return
    with pytest.raises(AssertionError, match="the server said ''"):
        Server(tmp_path / "data", 0, "--storage", "--import", tmp_path / "old")


@pytest.mark.parametrize("part", ["blobs", "metadata"])
def test_folders_that_lead_out_of_an_export_are_refused(export, tmp_path, part):
    """The files that a link leads to would become objects, which every client can download."""
    folder, _, _ = export
    inside, outside = folder / "storage_export" / part, tmp_path / "outside"
    inside.rename(outside)
    inside.symlink_to(outside)
    started = subprocess.run(
        [BINARY, "serve", "--port", "0", "--memory", "--storage", "--import", folder],
        timeout=20, capture_output=True, text=True)
    assert started.returncode != 0 and "ready" not in started.stdout
    assert "outside of the export" in started.stderr, started.stderr
