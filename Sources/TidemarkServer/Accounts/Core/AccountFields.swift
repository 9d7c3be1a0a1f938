/// The fields of a request, each looked at for its type and size before it is used.
package struct AccountFields: Sendable {
    /// Characters that a text may have where nothing else is said, in bytes of UTF-8.
    static let maxTextBytes = 4_096

    package let values: [String: JSONTree]

    package init(_ values: [String: JSONTree]) { self.values = values }

    /// Whether it is there and not null.
    func has(_ key: String) -> Bool { (values[key] ?? .null) != .null }

    /// - Throws: For another type, a longer text, and characters that no name has.
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
            throw .invalidArgument("\(key) has a character that no text here may have.")
        }
        return text
    }

    /// Nil for an empty text too.
    func filled(
        _ key: String, upTo limit: Int = maxTextBytes
    ) throws(AccountRefusal) -> String? {
        let text = try text(key, upTo: limit)
        return text?.isEmpty == true ? nil : text
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

    /// A number, or a text of one as JSON has for 64 bits.
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

// MARK: - What accounts have in them

extension AccountFields {
    /// In small letters, as accounts are told apart by it.
    func email(_ key: String = "email") throws(AccountRefusal) -> String? {
        guard let text = try filled(key, upTo: 256) else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && $0 != "\u{A0}"
        }
        guard parts.count == 2, isPlain, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw .invalidEmail
        }
        return text.lowercased()
    }

    func password() throws(AccountRefusal) -> String? {
        guard let password = try filled("password") else { return nil }
        if password.unicodeScalars.count < 6 { throw .weakPassword }
        return password
    }

    /// In the form of E.164: a plus sign and digits.
    func phoneNumber() throws(AccountRefusal) -> String? {
        guard let text = try filled("phoneNumber", upTo: 64) else { return nil }
        let digits = text.dropFirst().filter { $0 >= "0" && $0 <= "9" }
        guard text.first == "+", (1...15).contains(digits.count),
            text.dropFirst().allSatisfy({ ("0"..."9").contains($0) || " -()".contains($0) })
        else { throw AccountRefusal("INVALID_PHONE_NUMBER : Invalid format.") }
        return "+" + digits
    }

    /// An id that can name a document too, because profiles are named by it.
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

    /// Claims for all tokens of an account: the text of a JSON object of 1,000 bytes at most. Source:
    /// Firebase, "Control Access with Custom Claims".
    func customAttributes() throws(AccountRefusal) -> String? {
        guard let text = try text("customAttributes", upTo: AccountClaims.maxTextBytes) else {
            return nil
        }
        guard let claims = AccountClaims.object(text) else {
            throw AccountRefusal("INVALID_CLAIMS")
        }
        for name in claims.keys.sorted() where AccountClaims.reserved.contains(name) {
            throw AccountRefusal("FORBIDDEN_CLAIM : \(name)")
        }
        return text
    }
}
