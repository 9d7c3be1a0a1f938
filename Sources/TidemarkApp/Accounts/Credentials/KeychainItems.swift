import Foundation

/// The calls of ``KeychainItems`` to the system's keychain, one function for each call.
protocol KeychainCalls: Sendable {
    /// - Returns: The status, and the bytes if the status is success.
    func copy(_ item: KeychainItem) -> (status: Int32, bytes: [UInt8]?)
    func add(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32
    func update(_ item: KeychainItem, _ bytes: [UInt8]) -> Int32
    func delete(_ item: KeychainItem) -> Int32
}

/// The name of a secret in the keychain.
struct KeychainItem: Hashable, Sendable {
    var service: String
    var account: String
    /// The keychain access group that apps and their extensions share; nil for the app's own.
    var accessGroup: String?
}

/// Secrets of an app in a keychain. Interprets the keychain's answers and chooses the next call.
struct KeychainItems: CredentialStore {
    private let service: String
    private let accessGroup: String?
    private let calls: any KeychainCalls

    init(service: String, accessGroup: String? = nil, calls: some KeychainCalls) {
        self.service = service
        self.accessGroup = accessGroup
        self.calls = calls
    }

    func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
        let (status, bytes) = calls.copy(item(key.rawValue))
        switch KeychainStatus(status) {
        case .success:
            // Success without bytes would otherwise mean that no user is signed in.
            guard let bytes else { throw .failed("keychain: an item without bytes") }
            return bytes
        case .itemNotFound:
            // Before the first unlock, the keychain also gives this answer for existing items. If
            // an item can be added, items can be read.
            try probe()
            return nil
        case .duplicateItem, .locked, .failed: throw Self.error(status)
        }
    }

    func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError) {
        let item = item(key.rawValue)
        guard let secret else { return try remove(item) }
        // Another process, usually the app's extension, can add or remove the item between two
        // calls.
        for _ in 0..<Self.attempts {
            let updated = calls.update(item, secret)
            guard KeychainStatus(updated) == .itemNotFound else { return try check(updated) }
            let added = calls.add(item, secret)
            guard KeychainStatus(added) == .duplicateItem else { return try check(added) }
        }
        throw .failed("keychain: the item was added and deleted repeatedly")
    }

    /// The maximum number of attempts to update and add, before the write fails.
    static let attempts = 3

    private func remove(_ item: KeychainItem) throws(CredentialStoreError) {
        let status = calls.delete(item)
        if KeychainStatus(status) != .itemNotFound { try check(status) }
    }

    /// Checks that the keychain can store an item now.
    private func probe() throws(CredentialStoreError) {
        // The name is unique, because another reader may probe at the same time.
        let item = item("probe-" + UUID().uuidString)
        let added = calls.add(item, [0])
        // A duplicate shows that the item could be added.
        if KeychainStatus(added) != .duplicateItem { try check(added) }
        try remove(item)
    }

    /// The group is part of the service's name: a query without a group finds the items of every
    /// group that the app belongs to, so the app's own items need another name than the shared
    /// ones.
    private func item(_ account: String) -> KeychainItem {
        let name = accessGroup.map { "\(service)/\($0)" } ?? service
        return KeychainItem(service: name, account: account, accessGroup: accessGroup)
    }

    private func check(_ status: Int32) throws(CredentialStoreError) {
        if KeychainStatus(status) != .success { throw Self.error(status) }
    }

    private static func error(_ status: Int32) -> CredentialStoreError {
        KeychainStatus(status) == .locked
            ? .locked : .failed("keychain: \(KeychainStatus.text(of: status))")
    }
}

/// The meaning of a status of the keychain. Source: Security, "Security Framework Result Codes".
enum KeychainStatus: Hashable, Sendable {
    case success, itemNotFound, duplicateItem, locked, failed

    init(_ status: Int32) {
        self =
            switch status {
            case 0: .success
            case -25_300: .itemNotFound
            case -25_299: .duplicateItem
            // The device is locked, and the item can only be read while it is unlocked.
            case -25_308: .locked
            default: .failed
            }
    }

    /// Returns the code for the log, with an explanation if a developer can correct the cause.
    static func text(of status: Int32) -> String {
        switch status {
        case -34_018: "\(status), the program lacks the entitlement keychain-access-groups"
        case -25_291: "\(status), no keychain is available"
        default: "\(status)"
        }
    }
}
