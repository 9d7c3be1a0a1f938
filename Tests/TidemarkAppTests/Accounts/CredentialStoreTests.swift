import Foundation
import Testing

@testable import TidemarkApp

struct `Credentials in files` {
    private let folder = TestFolder()
    private let key = [UInt8](repeating: 7, count: 32)

    private func file(_ key: CredentialKey) -> String {
        folder.path + "/" + key.rawValue + ".credential"
    }

    @Test func `are there again, and for their owner alone`() throws {
        let store = try FileCredentialStore(folder: folder.path, key: nil)
        #expect(try store.read(.session) == nil)
        try store.write(.session, [1, 2, 3])
        try store.write(.signUp, [])
        #expect(try FileCredentialStore(folder: folder.path, key: nil).read(.session) == [1, 2, 3])
        #expect(try store.read(.signUp) == [])
        let mode = try FileManager.default.attributesOfItem(atPath: file(.session))
        #expect(mode[.posixPermissions] as? Int == 0o600)
        try store.write(.session, nil)
        try store.write(.session, nil)
        #expect(try store.read(.session) == nil)
    }

    @Test func `are taken back from others before they are used`() throws {
        let store = try FileCredentialStore(folder: folder.path, key: nil)
        try store.write(.session, [1])
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: file(.session))
        #expect(try store.read(.session) == [1])
        let mode = try FileManager.default.attributesOfItem(atPath: file(.session))
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test func `with a key open with that key alone, and where they belong`() throws {
        let secret = Array("a refresh token".utf8)
        let store = try FileCredentialStore(folder: folder.path, key: key)
        try store.write(.session, secret)
        #expect(try store.read(.session) == secret)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(.session))))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("refresh"))
        let others: [[UInt8]?] = [nil, [UInt8](repeating: 8, count: 32)]
        for other in others {
            let stranger = try FileCredentialStore(folder: folder.path, key: other)
            #expect(throws: CredentialStoreError.self) { try stranger.read(.session) }
        }
        // The file of one credential replaces the file of the other.
        try FileManager.default.copyItem(atPath: file(.session), toPath: file(.signUp))
        #expect(throws: CredentialStoreError.self) { try store.read(.signUp) }
        var damaged = bytes
        damaged[20] ^= 1
        try Data(damaged).write(to: URL(fileURLWithPath: file(.session)))
        #expect(throws: CredentialStoreError.self) { try store.read(.session) }
    }

    @Test func `are encrypted with the environment's key, where it has one`() throws {
        let name = FileCredentialStore.keyVariable
        let keyed = try FileCredentialStore(
            folder: folder.path, environment: [name: Data(key).base64EncodedString()])
        try keyed.write(.session, [1, 2, 3])
        #expect(try FileCredentialStore(folder: folder.path, key: key).read(.session) == [1, 2, 3])
        let plain = try FileCredentialStore(folder: folder.path, environment: [:])
        #expect(throws: CredentialStoreError.self) { try plain.read(.session) }
        for wrong in ["no base64!", Data([1, 2]).base64EncodedString()] {
            #expect(throws: CredentialStoreError.self) {
                try FileCredentialStore(folder: folder.path, environment: [name: wrong])
            }
        }
    }

    @Test func `that cannot be read are not taken for none`() throws {
        let store = try FileCredentialStore(folder: folder.path, key: nil)
        try Data().write(to: URL(fileURLWithPath: file(.session)))
        #expect(throws: CredentialStoreError.self) { try store.read(.session) }
        try FileManager.default.removeItem(atPath: file(.session))
        try FileManager.default.createDirectory(
            atPath: file(.session), withIntermediateDirectories: false)
        #expect(throws: CredentialStoreError.self) { try store.read(.session) }
        #expect(throws: CredentialStoreError.self) {
            try FileCredentialStore(folder: folder.path, key: [1])
        }
    }

    @Test func `are not written through a link`() throws {
        let store = try FileCredentialStore(folder: folder.path, key: nil)
        let target = folder.path + "/elsewhere"
        try Data([9]).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(
            atPath: file(.session), withDestinationPath: target)
        #expect(throws: CredentialStoreError.self) { try store.read(.session) }
        try store.write(.session, [1])
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data([9]))
        #expect(try store.read(.session) == [1])
    }
}
