import Foundation

// The rules for keychain items in Apple's documentation, independent of our adapter's arguments.
// https://developer.apple.com/documentation/security/keychain-items

/// A status other than success.
struct KeychainRefusal: Error { let status: OSStatus }

/// The attributes of a generic password, with their documented types. All attributes except the
/// class are optional.
///
/// Throws `errSecParam` for a value of another type and `errSecNoSuchAttr` for an unknown key.
struct KeychainAttributes {
    var service: String?
    var account: String?
    var group: String?
    var accessible: String?
    var data: Data?

    private static let classes: Set = [
        kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock,
        kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ]

    init(_ dictionary: CFDictionary) throws(KeychainRefusal) {
        for (key, value) in dictionary {
            switch key {
            case kSecAttrService: service = try Self.typed(value)
            case kSecAttrAccount: account = try Self.typed(value)
            case kSecAttrAccessGroup: group = try Self.typed(value)
            case kSecValueData: data = try Self.typed(value)
            case kSecAttrAccessible:
                let text: String = try Self.typed(value)
                guard Self.classes.contains(text) else {
                    throw KeychainRefusal(status: errSecParam)
                }
                accessible = text
            case kSecClass, kSecUseDataProtectionKeychain, kSecReturnData, kSecMatchLimit:
                throw KeychainRefusal(status: errSecParam)
            default: throw KeychainRefusal(status: errSecNoSuchAttr)
            }
        }
    }

    private static func typed<Value>(_ value: Any) throws(KeychainRefusal) -> Value {
        guard let typed = value as? Value else { throw KeychainRefusal(status: errSecParam) }
        return typed
    }
}

/// A query: a class, attributes to match, and the options that its function allows.
///
/// An absent attribute matches any value. So a query without an access group finds the items of
/// every group to which the app belongs.
/// https://developer.apple.com/documentation/security/ksecattraccessgroup
struct KeychainSearch {
    let attributes: KeychainAttributes
    /// True for the data protection keychain, which iOS always uses. A Mac has another keychain
    /// too.
    let isProtected: Bool

    init(_ query: CFDictionary, allowing options: [CFString] = []) throws(KeychainRefusal) {
        guard query[kSecClass] as? String == kSecClassGenericPassword else {
            throw KeychainRefusal(status: errSecParam)
        }
        isProtected = query[kSecUseDataProtectionKeychain] as? Bool ?? false
        let taken = Set(options + [kSecClass, kSecUseDataProtectionKeychain])
        attributes = try KeychainAttributes(query.filter { !taken.contains($0.key) })
    }

    func matches(_ row: KeychainRow) -> Bool {
        func agree(_ asked: String?, _ value: String) -> Bool { asked == nil || asked == value }
        return row.isProtected == isProtected && agree(attributes.service, row.service)
            && agree(attributes.account, row.account) && agree(attributes.group, row.group)
            && agree(attributes.accessible, row.accessible)
    }
}

/// A stored generic password.
struct KeychainRow: Sendable {
    /// The first access group of an app, which is the group of an item without a stated group.
    static let ownGroup = "TEAM.own"

    var service: String
    var account: String
    var group: String
    var accessible: String
    var data: Data
    let isProtected: Bool

    /// Two items with the same key cannot both exist.
    var key: [String] { [service, account, group, isProtected ? "protected" : "file"] }

    init(_ search: KeychainSearch) {
        service = search.attributes.service ?? ""
        account = search.attributes.account ?? ""
        group = search.attributes.group ?? Self.ownGroup
        accessible = search.attributes.accessible ?? kSecAttrAccessibleWhenUnlocked
        data = search.attributes.data ?? Data()
        isProtected = search.isProtected
    }

    mutating func change(_ changes: KeychainAttributes) {
        service = changes.service ?? service
        account = changes.account ?? account
        group = changes.group ?? group
        accessible = changes.accessible ?? accessible
        data = changes.data ?? data
    }
}
