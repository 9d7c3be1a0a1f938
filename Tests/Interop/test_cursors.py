"""Cursors of every kind, forwards and backwards, by values, by snapshots and by names."""

import pytest
from google.cloud.firestore_v1.base_query import FieldFilter
from google.cloud.firestore_v1.field_path import FieldPath

NAME = FieldPath.document_id()


@pytest.fixture(scope="module")
def rows(client):
    """Nine documents of three teams with three scores each. Two scores are equal."""
    collection = client.collection("cursor-rows")
    batch = client.batch()
    for number in range(9):
        batch.set(collection.document(f"d{number}"), {
            "team": "xyz"[number // 3], "score": [10, 20, 20][number % 3],
            "m": {"of": number % 2}})
    batch.commit()
    return collection


def ids(query):
    return "".join(snapshot.id[1] for snapshot in query.stream())


def by_team_and_score(rows, direction="ASCENDING"):
    return rows.order_by("team").order_by("score", direction=direction)


@pytest.mark.parametrize("bound, expected", [
    (lambda q: q.start_at({"team": "y"}), "345678"),
    (lambda q: q.start_after({"team": "y"}), "678"),
    (lambda q: q.end_at({"team": "y"}), "012345"),
    (lambda q: q.end_before({"team": "y"}), "012"),
    (lambda q: q.start_at({"team": "y", "score": 20}), "45678"),
    (lambda q: q.start_after({"team": "y", "score": 10}), "45678"),
    (lambda q: q.start_after({"team": "y", "score": 20}), "678"),
    (lambda q: q.end_before({"team": "y", "score": 20}), "0123"),
    (lambda q: q.end_at({"team": "y", "score": 10}), "0123"),
    (lambda q: q.start_at({"team": "y"}).end_at({"team": "y"}), "345"),
    (lambda q: q.start_at({"team": "z"}).end_at({"team": "x"}), ""),
    (lambda q: q.start_at(["y", 20]).end_before(["z", 20]), "456"),
    (lambda q: q.start_at({"team": "y", "score": 15}), "45678"),
    (lambda q: q.start_at({"team": "xx"}).limit(2), "34"),
    (lambda q: q.start_after({"team": "x"}).offset(2).limit(2), "56"),
])
def test_cursors_by_value(rows, bound, expected):
    assert ids(bound(by_team_and_score(rows))) == expected


def test_cursors_go_with_the_direction(rows):
    query = by_team_and_score(rows, "DESCENDING")
    assert ids(query) == "210" "543" "876"
    assert ids(query.start_at({"team": "y", "score": 20})) == "543876"
    assert ids(query.start_after({"team": "y", "score": 20})) == "3876"
    assert ids(query.end_before({"team": "y", "score": 10})) == "21054"


def test_a_snapshot_is_a_place_of_its_own_among_equals(rows):
    second = rows.document("d4").get()
    query = by_team_and_score(rows)
    assert ids(query.start_at(second)) == "45678"
    assert ids(query.start_after(second)) == "5678"
    assert ids(query.end_at(second)) == "01234"
    assert ids(query.end_before(second)) == "0123"


def test_a_snapshot_without_an_order_is_a_place_among_names(rows):
    snapshot = rows.document("d4").get()
    assert ids(rows.start_after(snapshot)) == "5678"
    assert ids(rows.end_at(snapshot)) == "01234"
    assert ids(rows.start_at(snapshot).end_before(rows.document("d6").get())) == "45"


def test_a_snapshot_of_an_inequality(rows):
    snapshot = rows.document("d4").get()
    query = rows.where(filter=FieldFilter("score", ">", 10))
    assert ids(query) == "124578"
    assert ids(query.start_after(snapshot)) == "578"


def test_names_as_cursors(rows):
    query = rows.order_by(NAME)
    assert ids(query.start_at({NAME: "d5"})) == "5678"
    assert ids(query.start_after({NAME: rows.document("d5")})) == "678"
    assert ids(query.end_before({NAME: rows.document("d3a")})) == "0123", "need not exist"
    assert ids(rows.order_by(NAME, direction="DESCENDING").start_at({NAME: "d5"})) == "543210"
    after = rows.order_by("score").order_by(NAME).start_after({"score": 20, NAME: "d4"})
    assert ids(after) == "578"


def test_limit_to_last_with_cursors(rows):
    def last(query, number):
        return "".join(s.id[1] for s in query.limit_to_last(number).get())
    assert last(by_team_and_score(rows), 2) == "78"
    assert last(by_team_and_score(rows), 20) == "012345678"
    assert last(rows.order_by("team").where(filter=FieldFilter("score", "==", 20)), 3) == "578"


def test_pages_by_every_size_see_each_document_once(rows):
    for size in (1, 2, 4, 9, 10):
        seen, last = "", None
        while True:
            query = by_team_and_score(rows).limit(size)
            page = list((query.start_after(last) if last else query).stream())
            seen += "".join(snapshot.id[1] for snapshot in page)
            if len(page) < size:
                break
            last = page[-1]
        assert seen == "012345678", size


def test_a_cursor_inside_a_map_field(rows):
    query = rows.order_by("m.of")
    assert ids(query.start_after({"m": {"of": 0}})) == "1357"
    assert ids(query.end_at({"m": {"of": 0}})) == "02468"


def test_cursors_of_a_group(client, rows, group):
    for parent in "ab":
        for number in range(2):
            client.document(f"{group}-top/{parent}/{group}/d{number}").set({"n": number})
    query = client.collection_group(group)
    ordered = query.order_by("n")
    assert ids(ordered.start_after({"n": 0})) == "11"
    middle = client.document(f"{group}-top/a/{group}/d1").get()
    assert [s.reference.path for s in query.order_by(NAME).start_after(
        {NAME: middle.reference}).stream()] == [
            f"{group}-top/b/{group}/d0", f"{group}-top/b/{group}/d1"]
    assert ids(ordered.start_at({"n": 0}).end_at({"n": 0})) == "00"
    assert ids(ordered.end_before({"n": 1})) == "00"
    assert ids(ordered.limit(1).offset(1)) == "0"
    assert "".join(s.id[1] for s in ordered.limit_to_last(1).get()) == "1"


def test_bounds_on_a_collection_itself(rows):
    """Every bound can be the first part of a query, without an order before it."""
    snapshot = rows.document("d3").get()
    assert ids(rows.limit(2)) == "01"
    assert ids(rows.offset(7)) == "78"
    assert ids(rows.start_at(snapshot)) == "345678"
    assert ids(rows.start_after(snapshot)) == "45678"
    assert ids(rows.end_at(snapshot)) == "0123"
    assert ids(rows.end_before(snapshot)) == "012"
    assert ids(rows.select(["team"]).limit(1)) == "0"
    assert [s.to_dict() for s in rows.limit(1).select(["team"]).stream()] == [{"team": "x"}]
    assert "".join(s.id[1] for s in rows.limit_to_last(2).order_by("team").get()) == "78"
