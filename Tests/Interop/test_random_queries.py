"""Random queries, checked against an implementation of the documentation in Python that uses no
server.

The oracle filters, sorts and cuts a list. It is slow, but short enough to be verified by reading.
"""

import functools
import math
import random

import pytest
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or

FIELDS = ["a", "b", "c"]
NUMBERS = [0, 1, 2, 3, 1.5, 2.5, -1, 0.0, float("nan")]
VALUES = NUMBERS + [None, True, False, "", "x", "y", "é", [1], [1, "x"], [2, None], {"k": 1}]


def kind(value):
    """Returns the position of a value's type in the order of all values."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return 1
    if isinstance(value, (int, float)):
        return 2
    return {str: 5, list: 9, dict: 11}[type(value)]


def compare(left, right):
    if kind(left) != kind(right):
        return -1 if kind(left) < kind(right) else 1
    if kind(left) == 2:
        left, right = [(x == x, 0 if x != x else x) for x in (left, right)]  # NaN comes first
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    if isinstance(left, list):
        for one, other in zip(left, right):
            if order := compare(one, other):
                return order
        left, right = len(left), len(right)
    if isinstance(left, dict):
        return compare([x for item in sorted(left.items()) for x in item],
                       [x for item in sorted(right.items()) for x in item])
    if left is None or left == right:
        return 0
    return -1 if left < right else 1


def equal(left, right):
    return kind(left) == kind(right) and compare(left, right) == 0


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def matches(document, field, operator, operand):
    if field not in document:
        return False
    value = document[field]
    if operator == "==":  # with None and NaN the client asks whether it is null, or NaN
        return equal(value, operand)
    if operator == "!=":
        return value is not None and not equal(value, operand)
    if operator == "in":
        return any(equal(value, each) for each in operand)
    if operator == "not-in":
        return value is not None and not any(equal(value, each) for each in operand)
    if operator == "array_contains":
        return isinstance(value, list) and any(equal(each, operand) for each in value)
    if operator == "array_contains_any":
        return isinstance(value, list) and any(
            equal(each, other) for each in value for other in operand)
    if kind(value) != kind(operand) or is_nan(value) or is_nan(operand):
        return False
    order = compare(value, operand)
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def holds(document, filters):
    """Evaluates a nested list of the form ("and" or "or", ...) or (field, operator, operand)."""
    if filters[0] == "and":
        return all(holds(document, each) for each in filters[1:])
    if filters[0] == "or":
        return any(holds(document, each) for each in filters[1:])
    return matches(document, *filters)


def inequalities(filters):
    if filters[0] in ("and", "or"):
        return {field for each in filters[1:] for field in inequalities(each)}
    return {filters[0]} if filters[1] in ("<", "<=", ">", ">=", "!=", "not-in") else set()


def answer(documents, filters, orders, limit, offset):
    """Returns the ids of the matching documents, in order."""
    orders = list(orders)
    named = {field for field, _ in orders}
    last = orders[-1][1] if orders else 1
    orders += [(field, last) for field in sorted(inequalities(filters) - named)]

    def before(one, other):
        for field, direction in orders:
            if order := compare(documents[one][field], documents[other][field]):
                return order * direction
        return ((one > other) - (one < other)) * last
    found = [each for each, document in documents.items() if holds(document, filters)
             and all(field in document for field, _ in orders)]
    found.sort(key=functools.cmp_to_key(before))
    return found[offset:][:limit]


class Chance:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def document(self):
        return {field: self.random.choice(VALUES) for field in FIELDS if self.random.random() < 0.9}

    def filter(self, depth=0, single=False):
        """Makes a random filter. With `single`, it contains no filters that a query may contain
        only once."""
        chosen = self.random.random()
        if depth < 2 and chosen < 0.45:
            word = "or" if chosen < 0.2 and not single else "and"
            parts = [self.filter(depth + 1, True) for _ in range(self.random.randint(1, 3))]
            return (word, *parts)
        field, pick = self.random.choice(FIELDS), self.random.choice
        some = [pick([v for v in VALUES if v is not None and not is_nan(v)]) for _ in range(2)]
        operators = ["==", "==", "<", "<=", ">", ">=", "in"]
        if not single:
            operators += ["!=", "not-in", "array_contains", "array_contains_any"]
        operator = pick(operators)
        if operator in ("in", "not-in", "array_contains_any"):
            return (field, operator, some)
        if operator == "array_contains":
            return (field, operator, pick([1, 2, "x"]))
        if operator in ("==", "!="):
            return (field, operator, pick(VALUES))
        return (field, operator, some[0])

    def orders(self, filters):
        fields = [field for field in FIELDS if self.random.random() < 0.3]
        self.random.shuffle(fields)
        return [(field, self.random.choice([1, -1])) for field in fields]


def for_client(filters):
    if filters[0] in ("and", "or"):
        return {"and": And, "or": Or}[filters[0]]([for_client(each) for each in filters[1:]])
    return FieldFilter(*filters)


@pytest.fixture(scope="module")
def documents(client):
    chance = Chance(7)
    documents = {f"d{number:03}": chance.document() for number in range(150)}
    batch = client.batch()
    for name, fields in documents.items():
        batch.set(client.collection("by-chance").document(name), fields)
    batch.commit()
    return documents


@pytest.mark.parametrize("seed", range(5))
def test_a_query_by_chance_finds_what_the_documentation_says(client, documents, seed):
    chance = Chance(seed)
    total = 0
    for _ in range(50):
        filters = chance.filter()
        orders = chance.orders(filters)
        limit = chance.random.choice([None, None, 1, 5, 40])
        offset = chance.random.choice([0, 0, 0, 3])
        query = client.collection("by-chance").where(filter=for_client(filters)).offset(offset)
        for field, direction in orders:
            query = query.order_by(
                field, direction="ASCENDING" if direction == 1 else "DESCENDING")
        if limit is not None:
            query = query.limit(limit)
        expected = answer(documents, filters, orders, limit, offset)
        found = [snapshot.id for snapshot in query.stream()]
        assert found == expected, (filters, orders, limit, offset)
        assert query.count().get()[0][0].value == len(expected)
        total += len(expected)
    assert total > 100, "the queries must find something"
