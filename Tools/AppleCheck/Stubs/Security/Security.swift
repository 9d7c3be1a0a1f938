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
public let errSecParam: OSStatus = -50

// https://developer.apple.com/documentation/security/item-class-keys-and-values
public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
// https://developer.apple.com/documentation/security/item-attribute-keys-and-values
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecUseDataProtectionKeychain: CFString = "nleg"
// https://developer.apple.com/documentation/security/item-return-result-keys
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    let (status, data) = StubKeychain.perform("copy", query) { items, key in
        items[key].map { (errSecSuccess, $0) } ?? (errSecItemNotFound, nil)
    }
    if let data, query[kSecReturnData] as? Bool == true {
        result?.pointee = NSData(data: data)
    }
    return status
}

/// https://developer.apple.com/documentation/security/secitemadd(_:_:)
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    StubKeychain.perform("add", attributes) { items, key in
        if items[key] != nil { return (errSecDuplicateItem, nil) }
        guard let data = attributes[kSecValueData] as? Data,
            attributes[kSecAttrAccessible] as? String
                == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        else { return (errSecParam, nil) }
        items[key] = data
        return (errSecSuccess, nil)
    }.0
}

/// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
public func SecItemUpdate(
    _ query: CFDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus {
    StubKeychain.perform("update", query) { items, key in
        if items[key] == nil { return (errSecItemNotFound, nil) }
        guard let data = attributesToUpdate[kSecValueData] as? Data else {
            return (errSecParam, nil)
        }
        items[key] = data
        return (errSecSuccess, nil)
    }.0
}

/// https://developer.apple.com/documentation/security/secitemdelete(_:)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    StubKeychain.perform("delete", query) { items, key in
        (items.removeValue(forKey: key) == nil ? errSecItemNotFound : errSecSuccess, nil)
    }.0
}

/// What the functions above work on: a dictionary, and statuses that a test has written down.
public enum StubKeychain {
    private struct State {
        var items: [[String]: Data] = [:]
        var scripted: [OSStatus] = []
        var calls: [String] = []
    }

    private static let state = Mutex(State())

    /// Empties it.
    public static func reset() { state.withLock { $0 = State() } }
    /// The next calls end with these statuses, and do nothing.
    public static func script(_ statuses: OSStatus...) {
        state.withLock { $0.scripted += statuses }
    }
    /// The functions that were called, in order.
    public static var calls: [String] { state.withLock(\.calls) }
    public static var count: Int { state.withLock(\.items.count) }

    fileprivate static func perform(
        _ name: String, _ query: CFDictionary,
        _ body: (inout [[String]: Data], [String]) -> (OSStatus, Data?)
    ) -> (OSStatus, Data?) {
        guard query[kSecClass] as? String == kSecClassGenericPassword,
            query[kSecUseDataProtectionKeychain] as? Bool == true,
            let service = query[kSecAttrService] as? String,
            let account = query[kSecAttrAccount] as? String
        else { return (errSecParam, nil) }
        let group = query[kSecAttrAccessGroup] as? String ?? ""
        return state.withLock { state in
            state.calls.append(name)
            if !state.scripted.isEmpty { return (state.scripted.removeFirst(), nil) }
            return body(&state.items, [service, account, group])
        }
    }
}
