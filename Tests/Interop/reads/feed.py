"""The reads of an app: a feed, its authors, a screen that listens, and a feed that resumes."""

import threading

from google.cloud import firestore

from wire import snapshot, resumed


def newest(db):
    query = db.collection("rooms/blue/messages").order_by("at", direction="DESCENDING")
    return [each.to_dict() for each in query.limit(3).stream()]


def authors(db, names):
    """The authors of messages. A batch reads an author of several messages once."""
    documents = [db.document(f"users/{name}") for name in names]
    return sorted({each.id for each in db.get_all(documents)})


def unread(db):
    query = db.collection("rooms/blue/messages").where(
        filter=firestore.FieldFilter("isRead", "==", False))
    return query.count().get()[0][0].value


class Screen:
    """A screen that appears again and again, and listens to its rooms."""

    def __init__(self, db):
        self.query = db.collection("rooms")
        self.watches = []
        self.shown = threading.Event()

    def appear(self):
        if not self.watches:
            self.shown.clear()
            self.watches.append(self.query.on_snapshot(lambda *_: self.shown.set()))
            assert self.shown.wait(30), "no snapshot came"

    def close(self):
        for watch in self.watches:
            watch.unsubscribe()


def sync_again(wire):
    """Listens, goes away, and listens again from where it was."""
    token = snapshot(wire, "news").resume_token
    return len(resumed(wire, "news", resume_token=token))
