"""Opens a conversation of the example app Messages twice: a suite for `tidemark reads`.

    python phone.py before|after
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


def seed():
    db = firestore.Client()
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    batch = db.batch()
    for number in range(MESSAGES):
        batch.set(db.document(f"messages/m{number:03}"), {
            "conversationId": "blue", "author": "ann" if number % 3 == 0 else "grace",
            "text": f"Line {number}", "timestamp": start + datetime.timedelta(minutes=number),
            "updatedAt": firestore.SERVER_TIMESTAMP})
    batch.set(db.document("conversations/blue"), {
        "members": ["ann", "grace"], "title": "Grace", "lastText": f"Line {MESSAGES - 1}",
        "lastMessageAt": start + datetime.timedelta(minutes=MESSAGES),
        "updatedAt": firestore.SERVER_TIMESTAMP})
    batch.commit()


def rows(screen):
    return [row["id"] for section in screen["sections"] for row in section["rows"]
            if row["isDocument"]]


class Phone:
    def __init__(self, side, folder):
        settings = {
            "folder": folder, "project": os.environ["GCLOUD_PROJECT"],
            "firestore": os.environ["FIRESTORE_EMULATOR_HOST"],
            "accounts": os.environ["FIREBASE_AUTH_EMULATOR_HOST"], "label": "phone",
            "user": {"id": "ann", "name": "Ann", "email": "ann@example.com", "password": "ann"},
            "diagnoses": False}
        self.process = subprocess.Popen(
            [os.environ["TIDEMARK_LAB"], "phone", "messages", "--side", side, "--settings",
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


def use(side, folder):
    phone = Phone(side, folder)
    phone.wait(lambda shown: shown == ["blue"])
    phone.tell("tap", id="blue", text="")
    phone.wait(lambda shown: len(shown) >= PAGE)
    phone.close()


if __name__ == "__main__":
    seed()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            use(sys.argv[1], folder)
