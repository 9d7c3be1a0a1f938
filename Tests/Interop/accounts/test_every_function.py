"""Checks that the other tests have used all functions of firebase_admin.auth."""

import inspect

import firebase_admin.auth


def test_every_public_function_was_used(auth, whole_suite, request):
    ours = {item.path.name for item in request.session.items}
    if not whole_suite and "test_administration.py" not in ours:
        return
    if request.config.option.keyword:
        return
    functions = {
        name for name, value in vars(firebase_admin.auth).items()
        if inspect.isfunction(value) and not name.startswith("_")}
    assert len(functions) >= 29
    assert functions - auth.used == set()
