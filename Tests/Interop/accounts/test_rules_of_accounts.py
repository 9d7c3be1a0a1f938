"""Security rules with the tokens of accounts: an emulator's tokens, and signed tokens."""

import pytest
from google.api_core.exceptions import PermissionDenied, Unauthenticated

from accounts.conftest import TOKEN, Client
from accounts.test_security import firestore_of
from conftest import Server

RULES = """rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    match /profiles/{uid} {
      allow read, write: if request.auth.uid == uid
        && request.auth.token.email.matches('.*@example[.]com')
        && request.auth.token.firebase.sign_in_provider == 'password';
    }
    match /reports/{id} { allow read: if request.auth.token.get('moderator', false); }
  }
}
"""
ADMINISTRATORS = {"emulator": "owner", "secure": TOKEN}


@pytest.fixture(params=["emulator", "secure"])
def guarded(request, tmp_path):
    file = tmp_path / "firestore.rules"
    file.write_text(RULES)
    secure = ["--accounts", "secure", "--accounts-password-cost", "11"]
    server = Server(
        tmp_path, 0, "--rules", file, "--accounts-project", "accounts",
        *(secure if request.param == "secure" else []),
        environment={"TIDEMARK_TOKEN": TOKEN} if request.param == "secure" else None)
    server.mode = request.param
    yield server
    server.stop()


def test_an_account_reaches_its_own_profile(guarded):
    rest = Client(guarded)
    _, ann = rest.sign_up()
    _, bob = rest.sign_up()
    profile = f"profiles/{ann['localId']}"
    firestore_of(guarded, ann["idToken"]).document(profile).set({"name": "Ann"})
    with pytest.raises(PermissionDenied):
        firestore_of(guarded, bob["idToken"]).document(profile).get()
    admin = firestore_of(guarded, ADMINISTRATORS[guarded.mode])
    assert admin.document(profile).get().to_dict() == {"name": "Ann"}
    if guarded.mode == "secure":
        with pytest.raises(Unauthenticated):
            firestore_of(guarded, "owner").document(profile).get()


def test_claims_count_from_the_next_token_on(guarded):
    rest = Client(guarded)
    email, session = rest.sign_up()
    with pytest.raises(PermissionDenied):
        firestore_of(guarded, session["idToken"]).document("reports/1").get()
    bearer = {"Authorization": f"Bearer {ADMINISTRATORS[guarded.mode]}"}
    answer = rest.post(
        "/identitytoolkit.googleapis.com/v1/projects/accounts/accounts:update",
        {"localId": session["localId"], "customAttributes": '{"moderator": true}'},
        headers=bearer)
    assert answer.status_code == 200, answer.text
    renewed = rest.call(
        "signInWithPassword", email=email, password="secret-1", returnSecureToken=True)
    assert not firestore_of(guarded, renewed["idToken"]).document("reports/1").get().exists
