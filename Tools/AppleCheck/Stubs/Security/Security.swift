// https://developer.apple.com/documentation/security/keychain-items
@_exported public import CoreFoundationStub
import Foundation
import Synchronization

public typealias OSStatus = Int32

// https://developer.apple.com/documentation/security/security-framework-result-codes
public let errSecSuccess: OSStatus = 0
public let errSecDuplicateItem: OSStatus = -25_299
public let errSecItemNotFound: OSStatus = -25_300
public let errSecInteractionNotAllowed: OSStatus = -25_308
public let errSecNoSuchAttr: OSStatus = -25_303
public let errSecParam: OSStatus = -50

// https://developer.apple.com/documentation/security/item-class-keys-and-values
public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
// https://developer.apple.com/documentation/security/restricting-keychain-item-accessibility
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
public let kSecUseDataProtectionKeychain: CFString = "nleg"
// https://developer.apple.com/documentation/security/item-return-result-keys
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecMatchLimitAll: CFString = "m_LimitAll"

/// Finds one item by default, and all of them with `kSecMatchLimitAll`.
///
/// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    let (status, found) = StubKeychain.perform("copy") { items throws(KeychainRefusal) in
        let search = try KeychainSearch(query, allowing: [kSecReturnData, kSecMatchLimit])
        let found = items.filter(search.matches)
        if found.isEmpty { throw KeychainRefusal(status: errSecItemNotFound) }
        return query[kSecMatchLimit] as? String == kSecMatchLimitAll ? found : [found[0]]
    }
    guard let found, query[kSecReturnData] as? Bool == true else { return status }
    let data = found.map { NSData(data: $0.data) }
    result?.pointee =
        query[kSecMatchLimit] as? String == kSecMatchLimitAll ? data as NSArray : data[0]
    return status
}

/// Adds an item. Service, account and access group are the primary key of a generic password.
///
/// https://developer.apple.com/documentation/security/secitemadd(_:_:)
/// https://developer.apple.com/documentation/security/errsecduplicateitem
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    StubKeychain.perform("add") { items throws(KeychainRefusal) in
        let search = try KeychainSearch(attributes, allowing: [kSecReturnData])
        let item = KeychainRow(search)
        if items.contains(where: { $0.key == item.key }) {
            throw KeychainRefusal(status: errSecDuplicateItem)
        }
        items.append(item)
    }.0
}

/// Changes every matching item. The changes are attributes of items, and contain neither a class
/// nor a search option.
///
/// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
public func SecItemUpdate(
    _ query: CFDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus {
    StubKeychain.perform("update") { items throws(KeychainRefusal) in
        let search = try KeychainSearch(query)
        let changes = try KeychainAttributes(attributesToUpdate)
        let matching = items.indices.filter { search.matches(items[$0]) }
        if matching.isEmpty { throw KeychainRefusal(status: errSecItemNotFound) }
        for index in matching { items[index].change(changes) }
    }.0
}

/// Deletes every item that matches.
///
/// https://developer.apple.com/documentation/security/secitemdelete(_:)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    StubKeychain.perform("delete") { items throws(KeychainRefusal) in
        let search = try KeychainSearch(query)
        let before = items.count
        items.removeAll(where: search.matches)
        if items.count == before { throw KeychainRefusal(status: errSecItemNotFound) }
    }.0
}

/// The keychain behind the functions above: rows in memory, and statuses that a test scripts.
public enum StubKeychain {
    private struct State {
        var items: [KeychainRow] = []
        var scripted: [OSStatus] = []
        var calls: [String] = []
    }

    private static let state = Mutex(State())

    /// Deletes all items, scripted statuses and noted calls.
    public static func reset() { state.withLock { $0 = State() } }
    /// Makes the next calls return these statuses without any effect.
    public static func script(_ statuses: OSStatus...) {
        state.withLock { $0.scripted += statuses }
    }
    /// The functions that were called, in order.
    public static var calls: [String] { state.withLock(\.calls) }
    public static var count: Int { state.withLock(\.items.count) }
    /// The value of `kSecAttrAccessible` of each item.
    public static var accessibility: [String] { state.withLock { $0.items.map(\.accessible) } }

    fileprivate static func perform<Result: Sendable>(
        _ name: String, _ body: (inout [KeychainRow]) throws(KeychainRefusal) -> Result
    ) -> (OSStatus, Result?) {
        state.withLock { state in
            state.calls.append(name)
            if !state.scripted.isEmpty { return (state.scripted.removeFirst(), nil) }
            do throws(KeychainRefusal) {
                return (errSecSuccess, try body(&state.items))
            } catch {
                return (error.status, nil)
            }
        }
    }
}
