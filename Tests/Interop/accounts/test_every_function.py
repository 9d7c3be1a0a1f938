"""Checks that the other tests have used all functions of firebase_admin.auth. Scripts/interop runs
this test after all others, in a process of its own."""

import inspect

import firebase_admin.auth


def test_every_public_function_was_used(used_by_all):
    functions = {
        name for name, value in vars(firebase_admin.auth).items()
        if inspect.isfunction(value) and not name.startswith("_")}
    assert len(functions) >= 29
    assert {name for name in functions if ("firebase_admin.auth", name) not in used_by_all} == set()
