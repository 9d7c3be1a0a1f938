import TidemarkModel

/// The fields of a request. Each access checks the type and the size.
package struct AccountFields: Sendable {
    /// The default maximum of a text, in bytes of UTF-8.
    static let maxTextBytes = 4_096

    package let values: [String: JSONTree]

    package init(_ values: [String: JSONTree]) { self.values = values }

    /// Returns true if the field exists and is not null.
    func has(_ key: String) -> Bool { (values[key] ?? .null) != .null }

    /// - Throws: ``AccountRefusal`` for another type, a text that is too long, and a text with a
    ///   NUL character.
    package func text(
        _ key: String, upTo limit: Int = maxTextBytes
    ) throws(AccountRefusal) -> String? {
        guard has(key) else { return nil }
        guard let text = values[key].text else {
            throw .invalidArgument("\(key) must be a text.")
        }
        if text.utf8.count > limit {
            throw .invalidArgument("\(key) is longer than \(limit) bytes.")
        }
        if text.unicodeScalars.contains("\0") {
            throw .invalidArgument("\(key) has a character that is not allowed.")
        }
        return text
    }

    /// Returns a text; nil also for an empty text.
    func filled(
        _ key: String, upTo limit: Int = maxTextBytes
    ) throws(AccountRefusal) -> String? {
        let text = try text(key, upTo: limit)
        return text?.isEmpty == true ? nil : text
    }

    /// The fields without empty texts. In a list of accounts, an empty text means that the value is
    /// missing.
    var withoutEmptyTexts: AccountFields {
        AccountFields(values.filter { $0.value != .text("") })
    }

    func flag(_ key: String) throws(AccountRefusal) -> Bool? {
        guard has(key) else { return nil }
        switch values[key] {
        case .bool(let value)?: return value
        case .text("true")?: return true
        case .text("false")?: return false
        default: throw .invalidArgument("\(key) must be true or false.")
        }
    }

    /// Returns a number, or the number in a text, which is JSON's form of 64-bit numbers.
    func integer(_ key: String) throws(AccountRefusal) -> Int64? {
        guard has(key) else { return nil }
        guard let value = values[key].integer else {
            throw .invalidArgument("\(key) must be a whole number.")
        }
        return value
    }

    func list(_ key: String, upTo limit: Int) throws(AccountRefusal) -> [JSONTree] {
        guard has(key) else { return [] }
        guard case .list(let elements)? = values[key] else {
            throw .invalidArgument("\(key) must be a list.")
        }
        if elements.count > limit {
            throw .invalidArgument("\(key) has more than \(limit) elements.")
        }
        return elements
    }

    func texts(_ key: String, upTo limit: Int) throws(AccountRefusal) -> [String] {
        var texts: [String] = []
        for element in try list(key, upTo: limit) {
            guard case .text(let text) = element, text.utf8.count <= Self.maxTextBytes else {
                throw .invalidArgument("\(key) must be a list of texts.")
            }
            texts.append(text)
        }
        return texts
    }

    func object(_ key: String) throws(AccountRefusal) -> [String: JSONTree]? {
        guard has(key) else { return nil }
        guard let fields = values[key]?.fields else {
            throw .invalidArgument("\(key) must be an object.")
        }
        return fields
    }
}

// MARK: - Contents of accounts

extension AccountFields {
    /// Returns the tenant that the path or the body names; nil if neither names a tenant.
    package func tenant() throws(AccountRefusal) -> String? {
        let ofPath = try filled("_tenant")
        let named = try filled("tenantId")
        if let ofPath, let named, !named.hasSameBytes(as: ofPath) { throw .tenantMismatch }
        guard let tenant = ofPath ?? named else { return nil }
        guard AccountPool.isTenant(tenant) else { throw AccountRefusal("INVALID_TENANT_ID") }
        return tenant
    }

    /// Returns the address in lower case, in which addresses are compared; nil if there is none.
    ///
    /// - Throws: `refusal` if the text is not an address, also if it is empty.
    func email(
        _ key: String = "email", else refusal: AccountRefusal = .invalidEmail
    ) throws(AccountRefusal) -> String? {
        guard let text = try text(key, upTo: 256) else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && $0 != "\u{A0}"
        }
        guard parts.count == 2, isPlain, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw refusal
        }
        return text.lowercased()
    }

    /// Returns a new password; nil if there is none.
    ///
    /// - Throws: `WEAK_PASSWORD` if the password is too short, also if it is empty.
    func password(_ key: String = "password") throws(AccountRefusal) -> String? {
        guard let password = try text(key) else { return nil }
        if password.unicodeScalars.count < 6 { throw .weakPassword }
        return password
    }

    /// Returns the number in the form of E.164, a plus sign and digits; nil if there is none.
    ///
    /// - Throws: `INVALID_PHONE_NUMBER` if the text is not a number, also if it is empty.
    func phoneNumber() throws(AccountRefusal) -> String? {
        guard let text = try text("phoneNumber", upTo: 64) else { return nil }
        let digits = text.dropFirst().filter { $0 >= "0" && $0 <= "9" }
        guard text.first == "+", (1...15).contains(digits.count),
            text.dropFirst().allSatisfy({ ("0"..."9").contains($0) || " -()".contains($0) })
        else { throw AccountRefusal.invalidPhoneNumber }
        return "+" + digits
    }

    /// Returns an account's id. It must also be a valid document id, because profiles are named by
    /// it.
    func localID(_ key: String = "localId") throws(AccountRefusal) -> String? {
        guard let text = try text(key, upTo: 512) else { return nil }
        guard Self.isLocalID(text) else { throw .invalidLocalID }
        return text
    }

    static func isLocalID(_ text: String) -> Bool {
        if text.isEmpty || text.unicodeScalars.count > 128 || text == "." || text == ".." {
            return false
        }
        if text.hasPrefix("__"), text.hasSuffix("__") { return false }
        return text.unicodeScalars.allSatisfy {
            $0 != "/" && $0.properties.generalCategory != .control
        }
    }

    /// Returns the claims for all tokens of an account: the text of a JSON object of at most 1,000
    /// bytes. Source: Firebase, "Control Access with Custom Claims".
    func customAttributes() throws(AccountRefusal) -> String? {
        guard let text = try text("customAttributes", upTo: AccountClaims.maxTextBytes) else {
            return nil
        }
        guard let claims = AccountClaims.object(text) else {
            throw AccountRefusal("INVALID_CLAIMS")
        }
        if AccountClaims.hasTwinNames(Array(text.utf8)) { throw AccountRefusal.twinClaims }
        for name in claims.keys.sorted() where AccountClaims.reserved.contains(name) {
            throw AccountRefusal("FORBIDDEN_CLAIM : \(name)")
        }
        return text
    }
}
