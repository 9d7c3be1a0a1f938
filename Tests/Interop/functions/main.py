"""Functions as an app writes them. Each appends what it was told to a file."""

import json
import os

from firebase_functions import firestore_fn, https_fn, identity_fn
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore

PATTERN = "rooms/{room}"


def client():
    return firestore.Client(
        project=os.environ["GCLOUD_PROJECT"], credentials=AnonymousCredentials())


def fields(snapshot):
    return None if snapshot is None else snapshot.to_dict()


def note(name, event, before, after):
    line = {
        "name": name, "id": event.id, "type": event.type, "document": event.document,
        "room": event.params["room"], "time": str(event.time), "project": event.project,
        "database": event.database, "before": fields(before), "after": fields(after),
        "auth": [getattr(event, "auth_type", None), getattr(event, "auth_id", None)]}
    # One write of a short line is not torn, whoever else appends and whoever is killed.
    file = os.open(os.environ["EVENT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, (json.dumps(line) + "\n").encode())
    finally:
        os.close(file)


@firestore_fn.on_document_created(document=PATTERN)
def created(event):
    note("created", event, None, event.data)


@firestore_fn.on_document_updated(document=PATTERN)
def updated(event):
    note("updated", event, event.data.before, event.data.after)


@firestore_fn.on_document_deleted(document=PATTERN)
def deleted(event):
    note("deleted", event, event.data, None)


@firestore_fn.on_document_written(document=PATTERN)
def written(event):
    note("written", event, event.data.before, event.data.after)


@firestore_fn.on_document_created_with_auth_context(document=PATTERN)
def created_by(event):
    note("created_by", event, None, event.data)


@firestore_fn.on_document_updated_with_auth_context(document=PATTERN)
def updated_by(event):
    note("updated_by", event, event.data.before, event.data.after)


@firestore_fn.on_document_deleted_with_auth_context(document=PATTERN)
def deleted_by(event):
    note("deleted_by", event, event.data, None)


@firestore_fn.on_document_written_with_auth_context(document=PATTERN)
def written_by(event):
    note("written_by", event, event.data.before, event.data.after)


@firestore_fn.on_document_written(document=PATTERN)
def failing(event):
    note("failing", event, None, None)
    raise ValueError("this function fails")


@firestore_fn.on_document_written(document=PATTERN)
def reading(event):
    """Reads a collection for each change."""
    list(client().collection("halls").stream())


@firestore_fn.on_document_written(document=PATTERN)
def looping(event):
    """Writes what triggers it, as a function with a mistake does, and stops after 15 times."""
    n = event.data.after.to_dict()["n"]
    if n < 15:
        client().document(event.document).set({"n": n + 1})


def note_user(name, event):
    user, more = event.data, event.additional_user_info
    line = {
        "name": name, "id": event.event_id, "uid": user.uid, "email": user.email,
        "display": user.display_name, "verified": user.email_verified,
        "providers": [row.provider_id for row in user.provider_data],
        "claims": user.custom_claims, "provider": more.provider_id, "new": more.is_new_user,
        "address": event.ip_address, "agent": event.user_agent,
        "id_token": event.credential.id_token if event.credential else None}
    with open(os.environ["EVENT_LOG"], "a") as file:
        file.write(json.dumps(line) + "\n")


@identity_fn.before_user_created()
def before_create(event):
    note_user("before_create", event)
    if event.data.email.endswith("@refused.example"):
        raise https_fn.HttpsError(
            https_fn.FunctionsErrorCode.PERMISSION_DENIED, "This address is not allowed.")
    return {"display_name": "Checked", "custom_claims": {"role": "guest"},
            "disabled": event.data.email.startswith("disabled")}


@identity_fn.before_user_signed_in()
def before_sign_in(event):
    note_user("before_sign_in", event)
    if event.data.email.startswith("later"):
        return None
    return {"session_claims": {"visit": event.data.custom_claims["role"] + "-1"}}
