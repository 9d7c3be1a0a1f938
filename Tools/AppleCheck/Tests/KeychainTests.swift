import Foundation
import Security
import Testing
import Witness

@testable import TidemarkApp

/// Runs the real adapter on a keychain that is a dictionary. The package tests the adapter's
/// decisions separately (`KeychainItemsTests`).
@Suite(.serialized) struct `The keychain's adapter` {
    private let store: KeychainCredentialStore

    init() {
        StubKeychain.reset()
        store = KeychainCredentialStore(service: "app.test")
    }

    @Test func `writes, replaces, reads and removes a secret`() throws {
        #expect(try store.read(.session) == nil)
        #expect(StubKeychain.count == 0, "nothing is left of the probe")
        try store.write(.session, [1, 2])
        #expect(try store.read(.session) == [1, 2])
        try store.write(.session, [3])
        #expect(try store.read(.session) == [3])
        #expect(try store.read(.signUp) == nil)
        try store.write(.session, nil)
        try store.write(.session, nil)
        #expect(try store.read(.session) == nil)
    }

    @Test func `keeps services and groups apart`() throws {
        let other = KeychainCredentialStore(service: "app.other")
        let shared = KeychainCredentialStore(service: "app.test", accessGroup: "TEAM.app")
        try store.write(.session, [1])
        try shared.write(.session, [2])
        #expect(try other.read(.session) == nil)
        #expect(try store.read(.session) == [1])
        #expect(try shared.read(.session) == [2])
    }

    /// A query without an access group matches the items of every group of the app.
    @Test func `an item of a shared group is not the app's own`() throws {
        let shared = KeychainCredentialStore(service: "app.test", accessGroup: "TEAM.app")
        try shared.write(.session, [2])
        #expect(try store.read(.session) == nil)
        try store.write(.session, [1])
        #expect(try shared.read(.session) == [2])
        try store.write(.session, nil)
        #expect(try shared.read(.session) == [2])
    }

    @Test func `the stub refuses what Apple's documentation rules out`() {
        var query: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: "s"]
        #expect(SecItemAdd([kSecAttrService: "s"], nil) == errSecParam, "no class")
        #expect(SecItemAdd(query, nil) == errSecSuccess)
        #expect(SecItemAdd(query, nil) == errSecDuplicateItem)
        let meta = [kSecClass: kSecClassGenericPassword]
        #expect(SecItemUpdate(query, meta) == errSecParam, "a class is no attribute of an item")
        #expect(SecItemUpdate(query, ["color": "red"]) == errSecNoSuchAttr)
        #expect(SecItemUpdate(query, [kSecAttrAccount: 7]) == errSecParam, "a number is no account")
        query[kSecMatchLimit] = kSecMatchLimitOne
        #expect(SecItemDelete(query) == errSecParam, "a limit is an option of a search")
        #expect(SecItemDelete([kSecClass: kSecClassGenericPassword]) == errSecSuccess)
        #expect(StubKeychain.count == 0, "a delete without attributes deletes all")
    }

    @Test func `hands on what the system says`() {
        StubKeychain.script(errSecInteractionNotAllowed)
        #expect(throws: CredentialStoreError.locked) { try store.read(.session) }
        StubKeychain.script(errSecItemNotFound, errSecInteractionNotAllowed)
        #expect(throws: CredentialStoreError.locked) { try store.read(.session) }
        StubKeychain.script(errSecParam)
        #expect(throws: CredentialStoreError.failed("keychain: -50")) {
            try store.write(.session, [1])
        }
    }

    @Test func `is the default, for this device alone and after its first unlock`() throws {
        let store = try #require(SystemKeychain.store)
        try store.write(.session, [1])
        #expect(try store.read(.session) == [1])
        #expect(
            StubKeychain.accessibility == [kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly])
    }

    @Test func `takes over what another store has`() throws {
        let earlier = KeychainCredentialStore(service: "app.earlier")
        try earlier.write(.session, [7])
        let moving = MovingCredentialStore(from: earlier, to: store)
        StubKeychain.script(errSecInteractionNotAllowed)
        #expect(throws: CredentialStoreError.locked) { try moving.read(.session) }
        #expect(try moving.read(.session) == [7])
        #expect(try store.read(.session) == [7] && earlier.read(.session) == nil)
    }

    @Test func `has Apple's codes`() { #expect(Witness.isKeychainAsWritten) }
}
