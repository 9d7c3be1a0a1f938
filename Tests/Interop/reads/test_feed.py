"""A suite for `tidemark reads`, which test_reads.py runs and breaks."""

import os

import pytest
from google.cloud import firestore

import feed
from wire import Wire, update


@pytest.fixture(scope="session")
def db():
    db = firestore.Client()
    for number in range(40):
        db.document(f"rooms/blue/messages/{number:02}").set(
            {"at": number, "author": f"user{number % 5}", "isRead": number < 30})
    for number in range(5):
        db.document(f"users/user{number}").set({"name": f"User {number}"})
    for room in ("blue", "green"):
        db.document(f"rooms/{room}").set({"name": room})
    return db


@pytest.fixture
def wire():
    wire = Wire(os.environ["FIRESTORE_EMULATOR_HOST"])
    yield wire
    wire.close()


def test_newest(db):
    assert [each["at"] for each in feed.newest(db)][:3] == [39, 38, 37]


def test_authors(db):
    names = ["user1", "user2", "user1", "user1", "user2", "user1"]
    assert feed.authors(db, names) == ["user1", "user2"]


def test_unread(db):
    assert feed.unread(db) == 10


def test_screen(db):
    screen = feed.Screen(db)
    for _ in range(3):
        screen.appear()
    screen.close()


def test_sync_again(wire):
    wire.commit_writes(*(update(f"news/{number}", {"n": number}) for number in range(7)))
    assert feed.sync_again(wire) > 0
