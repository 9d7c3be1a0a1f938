"""Tenants, by Firebase's administration library and by the requests of apps."""

import json
import uuid

import firebase_admin
import google.oauth2.credentials
import pytest
from firebase_admin import credentials, tenant_mgt
from firebase_admin.auth import UserNotFoundError

from accounts.conftest import Client, message
from conftest import Server


class Owner(credentials.Base):
    """The administrator of a server with unsigned tokens."""

    def get_credential(self):
        return google.oauth2.credentials.Credentials("owner")


@pytest.fixture(scope="module")
def app(accounts):
    # The library's management of tenants does not read FIREBASE_AUTH_EMULATOR_HOST.
    service = tenant_mgt._TenantManagementService
    before = service.TENANT_MGT_URL
    service.TENANT_MGT_URL = \
        f"http://127.0.0.1:{accounts.accounts_port}/identitytoolkit.googleapis.com/v2"
    app = firebase_admin.initialize_app(
        Owner(), {"projectId": "accounts"}, name="tenants-" + uuid.uuid4().hex)
    yield app
    firebase_admin.delete_app(app)
    service.TENANT_MGT_URL = before


@pytest.fixture
def tenant(app):
    made = tenant_mgt.create_tenant(
        display_name="acme", allow_password_sign_up=True, enable_email_link_sign_in=False, app=app)
    yield made
    try:
        tenant_mgt.delete_tenant(made.tenant_id, app=app)
    except tenant_mgt.TenantNotFoundError:
        pass


def test_tenants_are_made_changed_listed_and_deleted(app, tenant):
    assert tenant.tenant_id.startswith("acme-") and tenant.allow_password_sign_up
    assert not tenant.enable_email_link_sign_in
    changed = tenant_mgt.update_tenant(
        tenant.tenant_id, display_name="other", enable_email_link_sign_in=True, app=app)
    assert (changed.tenant_id, changed.display_name) == (tenant.tenant_id, "other")
    found = tenant_mgt.get_tenant(tenant.tenant_id, app=app)
    assert found.enable_email_link_sign_in and found.allow_password_sign_up
    more = [tenant_mgt.create_tenant(display_name="more", app=app) for _ in range(3)]
    listed = {one.tenant_id for one in tenant_mgt.list_tenants(max_results=2, app=app).iterate_all()}
    assert listed >= {tenant.tenant_id, *(one.tenant_id for one in more)}
    for one in more:
        tenant_mgt.delete_tenant(one.tenant_id, app=app)
    with pytest.raises(tenant_mgt.TenantNotFoundError):
        tenant_mgt.get_tenant(more[0].tenant_id, app=app)


def test_users_of_a_tenant_are_apart_from_the_projects(app, auth, rest, tenant):
    client = tenant_mgt.auth_for_tenant(tenant.tenant_id, app=app)
    email = f"{uuid.uuid4().hex}@example.com"
    user = client.create_user(email=email, password="secret-1")
    assert user.tenant_id == tenant.tenant_id
    assert client.get_user_by_email(email).uid == user.uid
    with pytest.raises(UserNotFoundError):
        auth.get_user_by_email(email, app=app)
    own = auth.create_user(email=email, password="other-1", app=app)
    assert own.tenant_id is None and own.uid != user.uid
    assert [one.uid for one in client.list_users().iterate_all()] == [user.uid]

    session = rest.call("signInWithPassword", email=email, password="secret-1",
                        tenantId=tenant.tenant_id, returnSecureToken=True)
    assert session["localId"] == user.uid
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") \
        in ("INVALID_LOGIN_CREDENTIALS", "INVALID_PASSWORD")
    # The app's later calls name no tenant.
    looked_up = rest.call("lookup", idToken=session["idToken"])["users"][0]
    assert (looked_up["localId"], looked_up["tenantId"]) == (user.uid, tenant.tenant_id)
    rest.call("update", idToken=session["idToken"], displayName="Ann")
    assert client.get_user(user.uid).display_name == "Ann"
    refreshed = rest.refresh(session["refreshToken"]).json()
    claims = client.verify_id_token(refreshed["id_token"])
    assert claims["firebase"]["tenant"] == tenant.tenant_id

    client.set_custom_user_claims(user.uid, {"role": "editor"})
    client.revoke_refresh_tokens(user.uid)
    client.delete_user(user.uid)
    assert auth.get_user(own.uid, app=app).uid == own.uid


def test_a_call_for_two_tenants_or_for_none_is_refused(accounts, app, rest, tenant):
    path = f"/identitytoolkit.googleapis.com/v1/projects/accounts/tenants/{tenant.tenant_id}" \
        "/accounts:signUp?key=any"
    assert message(rest.post(path, {"tenantId": "another"})) == "TENANT_ID_MISMATCH"
    assert rest.refusal("signUp", tenantId="a/b") == "INVALID_TENANT_ID"
    _, session = rest.sign_up()
    answer = rest.post(
        path.replace("signUp", "lookup"), {"idToken": session["idToken"]})
    assert message(answer) == "TENANT_ID_MISMATCH"


def test_tenants_survive_a_restart_and_are_in_an_export(tmp_path):
    folder = tmp_path / "export"
    admin = {"authorization": "Bearer owner"}
    server = Server(tmp_path / "one", 0, "--export-on-exit", str(folder))
    client = Client(server)
    made = client.post("/identitytoolkit.googleapis.com/v2/projects/accounts/tenants",
                       {"displayName": "acme", "allowPasswordSignup": True}, headers=admin).json()
    name = made["name"].split("/")[-1]
    client.call("signUp", email="ann@example.com", password="secret-1", tenantId=name)
    server.stop()
    found = list(folder.rglob("tidemark-tenants.json"))
    assert len(found) == 1 and list(json.loads(found[0].read_text())["tenants"]) == [name]

    other = Server(tmp_path / "two", 0, "--import", str(folder))
    client = Client(other)
    client.call("signInWithPassword", email="ann@example.com", password="secret-1", tenantId=name)
    assert client.refusal("signInWithPassword", email="ann@example.com", password="secret-1") \
        in ("INVALID_LOGIN_CREDENTIALS", "EMAIL_NOT_FOUND")
    listed = client.session.get(
        client.base + "/identitytoolkit.googleapis.com/v2/projects/accounts/tenants",
        headers=admin, timeout=30).json()
    assert [one["name"].split("/")[-1] for one in listed["tenants"]] == [name]
    other.stop()
