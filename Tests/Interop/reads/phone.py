"""Opens a conversation of an example app twice: a suite for `tidemark reads`.

    python phone.py messages|chats before|after
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile

from google.cloud import firestore

MESSAGES = 120
PAGE = 50


START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def seed_messages(db):
    batch = db.batch()
    for number in range(MESSAGES):
        batch.set(db.document(f"messages/m{number:03}"), {
            "conversationId": "blue", "author": "ann" if number % 3 == 0 else "grace",
            "text": f"Line {number}", "timestamp": START + datetime.timedelta(minutes=number),
            "updatedAt": firestore.SERVER_TIMESTAMP})
    batch.set(db.document("conversations/blue"), {
        "members": ["ann", "grace"], "title": "Grace", "lastText": f"Line {MESSAGES - 1}",
        "lastMessageAt": START + datetime.timedelta(minutes=MESSAGES),
        "updatedAt": firestore.SERVER_TIMESTAMP})
    batch.commit()


def seed_chats(db):
    """The last message is a change that the chat's listener finds when it opens. Without one, an
    empty answer would cost a read, unless the message of `send_chat` came before it."""
    chat = db.document("chats/blue")
    batch = db.batch()
    for number in range(MESSAGES):
        time = START + datetime.timedelta(minutes=number)
        batch.set(chat.collection("messages").document(f"m{number:03}"), {
            "author": "ann" if number % 3 == 0 else "grace", "text": f"Line {number}",
            "sentAt": time,
            "updatedAt": firestore.SERVER_TIMESTAMP if number == MESSAGES - 1 else time})
    batch.set(chat, {
        "members": ["ann", "grace"], "title": "Grace", "lastText": f"Line {MESSAGES - 1}",
        "messageCount": MESSAGES, "lastMessageAt": time, "updatedAt": time})
    batch.set(db.document("users/ann/state/seen"), {"chats": {"blue": MESSAGES}})
    batch.commit()


def send_message(db, id):
    """Sends a message while the conversation is open. The phone shows it by its listener."""
    db.document(f"messages/{id}").set({
        "conversationId": "blue", "author": "grace", "text": "News",
        "timestamp": firestore.SERVER_TIMESTAMP, "updatedAt": firestore.SERVER_TIMESTAMP})


def send_chat(db, id):
    db.document(f"chats/blue/messages/{id}").set({
        "author": "grace", "text": "News", "sentAt": firestore.SERVER_TIMESTAMP,
        "updatedAt": firestore.SERVER_TIMESTAMP})


APPS = {"messages": (seed_messages, send_message), "chats": (seed_chats, send_chat)}


def rows(screen):
    return [row["id"] for section in screen["sections"] for row in section["rows"]
            if row["isDocument"]]


class Phone:
    def __init__(self, app, side, folder):
        settings = {
            "folder": folder, "project": os.environ["GCLOUD_PROJECT"],
            "firestore": os.environ["FIRESTORE_EMULATOR_HOST"],
            "accounts": os.environ["FIREBASE_AUTH_EMULATOR_HOST"], "label": "phone",
            "user": {"id": "ann", "name": "Ann", "email": "ann@example.com", "password": "ann"},
            "diagnoses": False}
        self.process = subprocess.Popen(
            [os.environ["TIDEMARK_LAB"], "phone", app, "--side", side, "--settings",
             json.dumps(settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait(self, holds):
        """Waits for a screen that the server has confirmed, or that an old app shows."""
        for line in self.process.stdout:
            screen = json.loads(line).get("screen", {}).get("_0")
            if screen and set(screen["state"]) & {"fresh", "quiet"} and holds(rows(screen)):
                return
        sys.exit("the app ended before it showed the screen")

    def tell(self, order, **values):
        self.process.stdin.write(json.dumps({order: values}) + "\n")
        self.process.stdin.flush()

    def close(self):
        self.tell("close")
        self.process.communicate(timeout=60)


def use(app, side, folder, id, send):
    phone = Phone(app, side, folder)
    phone.wait(lambda shown: shown == ["blue"])
    phone.tell("tap", id="blue", text="")
    phone.wait(lambda shown: len(shown) >= PAGE)
    send(id)
    phone.wait(lambda shown: any(row.endswith(id) for row in shown))
    phone.close()


if __name__ == "__main__":
    app, side = sys.argv[1:]
    db = firestore.Client()
    seed, send = APPS[app]
    seed(db)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            use(app, side, folder, f"new{number}", lambda id: send(db, id))
