"""Firebase's administration library, whose storage is Google's client of Cloud Storage."""

import uuid

import firebase_admin
import firebase_admin.credentials
import firebase_admin.storage
from google.auth.credentials import AnonymousCredentials


class NoCredential(firebase_admin.credentials.Base):
    """The library asks for a credential even where none is needed."""

    def get_credential(self):
        return AnonymousCredentials()


def test_the_library_finds_the_server(files, monkeypatch, web):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{files.storage_port}")
    app = firebase_admin.initialize_app(
        NoCredential(), {"projectId": "interop", "storageBucket": "interop.appspot.com"},
        name="storage-" + uuid.uuid4().hex)
    try:
        bucket = firebase_admin.storage.bucket(app=app)
        name = uuid.uuid4().hex
        blob = bucket.blob(name)
        blob.upload_from_string(b"x" * 9_000_000, content_type="text/plain")
        assert bucket.get_blob(name).download_as_bytes() == b"x" * 9_000_000
        # An object of this API has no download token until somebody asks for one.
        assert web.metadata(name).json()["downloadTokens"] == ""
        blob.delete()
        assert not blob.exists()
    finally:
        firebase_admin.delete_app(app)
