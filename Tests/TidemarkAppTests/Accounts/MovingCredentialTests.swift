import Foundation
import Testing
import Tidemark

@testable import TidemarkApp

/// Tests how secrets move from files into a keychain, with the keychain's real logic on scripted
/// calls.
struct `Secrets that move` {
    private let folder = TestFolder()
    private let keychain = ScriptedStore()

    private var files: FileCredentialStore {
        get throws { try FileCredentialStore(folder: folder.path, key: nil) }
    }

    private var store: any CredentialStore {
        get throws { try DefaultCredentials.store(folder: folder.path, keychain: keychain) }
    }

    @Test func `are in the keychain after the first read, and no longer in files`() throws {
        try files.write(.session, [1, 2])
        try files.write(.signUp, [3])
        #expect(try store.read(.session) == [1, 2])
        #expect(try keychain.read(.session) == [1, 2])
        #expect(try files.read(.session) == nil)
        #expect(try store.read(.signUp) == [3])
        #expect(try files.read(.signUp) == nil)
        #expect(try store.read(.session) == [1, 2])
    }

    @Test func `stay in the files until the keychain can take them`() throws {
        try files.write(.session, [1])
        keychain.fail(.locked)
        #expect(throws: CredentialStoreError.locked) { try store.read(.session) }
        #expect(try files.read(.session) == [1])
        keychain.fail(nil)
        #expect(try store.read(.session) == [1])
        #expect(try files.read(.session) == nil)
    }

    @Test func `that were half moved are the keychain's`() throws {
        try keychain.write(.session, [2])
        try files.write(.session, [1])
        #expect(try store.read(.session) == [2])
        #expect(try files.read(.session) == nil)
    }

    @Test func `never come back after a sign-out`() throws {
        try files.write(.session, [1])
        keychain.fail(.failed("full"))
        let moving = try store
        #expect(throws: CredentialStoreError.self) { try moving.write(.session, nil) }
        // The app is killed here.
        keychain.fail(nil)
        #expect(try store.read(.session) == nil)
    }

    @Test func `that are written anew replace those of the files`() throws {
        try files.write(.session, [1])
        try store.write(.session, [2])
        #expect(try files.read(.session) == nil)
        #expect(try keychain.read(.session) == [2])
        try store.write(.session, nil)
        #expect(try store.read(.session) == nil)
    }

    @Test func `that cannot be read do not count as missing`() throws {
        try files.write(.session, [1])
        let path = folder.path + "/session.credential"
        try Data([9]).write(to: URL(fileURLWithPath: path))
        #expect(throws: CredentialStoreError.self) { try store.read(.session) }
        #expect(try keychain.read(.session) == nil)
    }

    @Test func `leave no folder where there were no files`() throws {
        let store = try store
        try store.write(.session, [1])
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try store.read(.session) == [1])
    }

    /// An update of the app moves the session: the user stays signed in.
    @Test func `keep the user signed in`() async throws {
        let server = ScriptedAccounts()
        let before = Accounts(server, store: try files, installation: "i")
        let user = try await before.signUp(email: "a@b.c", password: "secret")
        let after = Accounts(server, store: try store, installation: "i")
        #expect(await after.load() == .signedIn(user))
        let next = Accounts(server, store: keychain, installation: "i")
        #expect(await next.load() == .signedIn(user))
    }
}

struct `The place of secrets without a keychain` {
    @Test func `is a folder for its owner alone`() throws {
        let folder = TestFolder()
        let store = try DefaultCredentials.store(folder: folder.path, keychain: nil)
        try store.write(.session, [1])
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder.path) == 0o700)
        #expect(try mode(folder.path + "/session.credential") == 0o600)
    }
}
