/// The ways to sign in that a tenant allows, with its other settings in their original JSON.
struct TenantSettings {
    /// The names of the fields that a caller may set.
    static let names: Set = [
        "displayName", "allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser",
        "disableAuth", "mfaConfig", "testPhoneNumbers",
    ]

    let json: [String: JSONTree]

    init(_ json: [String: JSONTree]) { self.json = json }

    /// A tenant that nobody has created. Calls to an emulator may name any tenant, and it allows
    /// everything. Source: Firebase's emulator.
    static let open = TenantSettings([
        "allowPasswordSignup": .bool(true), "enableEmailLinkSignin": .bool(true),
        "enableAnonymousUser": .bool(true),
    ])

    /// - Throws: The error in production's words if the tenant does not allow the call. An
    ///   administrator's call is always allowed.
    func admit(_ call: AccountCall) throws(AccountRefusal) {
        if call.isAdmin { return }
        if isSet("disableAuth") { throw AccountRefusal("PROJECT_DISABLED") }
        switch call.method {
        case .signUp where !call.fields.has("idToken") && !call.fields.has("email"):
            if !isSet("enableAnonymousUser") { throw AccountRefusal.adminOnly }
        case .signUp:
            if !isSet("allowPasswordSignup") { throw AccountRefusal.operationNotAllowed }
        case .signInWithPassword:
            if !isSet("allowPasswordSignup") { throw AccountRefusal("PASSWORD_LOGIN_DISABLED") }
        case .signInWithEmailLink:
            if !isSet("enableEmailLinkSignin") { throw AccountRefusal.operationNotAllowed }
        case .sendOobCode where call.fields.values["requestType"].text == "EMAIL_SIGNIN":
            if !isSet("enableEmailLinkSignin") { throw AccountRefusal.operationNotAllowed }
        case .sendVerificationCode, .signInWithPhoneNumber:
            throw AccountRefusal("UNSUPPORTED_TENANT_OPERATION")
        default: break
        }
    }

    private func isSet(_ name: String) -> Bool { json[name].flag ?? false }
}
