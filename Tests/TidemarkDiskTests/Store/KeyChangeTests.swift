import Foundation
import Testing
import TidemarkEncryption
import TidemarkModel
import TidemarkSync

@testable import TidemarkStore

/// Changes the key of a file, or encrypts a plain file, while the power fails at one of the writes.
/// Afterwards, the file has the old key or the new key, and all its data.
struct KeyChangeTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let documents = 40
    private static let newKey = {
        let key = CacheKey.random()
        return CacheEncryption.aes256 { key }.key
    }()

    private struct Files {
        var file: Data
        var log: Data
    }

    private static func path(_ number: Int) -> DocumentPath {
        DocumentPath(unchecked: "rooms/r\(number)")
    }

    private static func contents(_ number: Int) -> EncodedFields {
        EncodedFields([
            "n": .integer(Int64(number)),
            "text": .bytes([UInt8](repeating: UInt8(number), count: [10, 900, 9_000][number % 3])),
        ])
    }

    /// Returns the files as a kill leaves them: half of the data in the file, and half in the log.
    private static func files(_ atRest: AtRest) throws -> Files {
        let disk = try LossyDisk(seed: 0)
        let store = try DocumentStore(.file(disk.path("store.sqlite")), key: atRest.key)
        for half in 0..<2 {
            try store.write(.disk) { transaction in
                let table = transaction.documents(of: database)
                if half == 0 {
                    try table.declareIndex(
                        IndexDefinition(
                            collectionID: "rooms", fields: [.init(FieldPath(name: "n"))]))
                }
                for number in 0..<documents where number % 2 == half {
                    let time = Timestamp(microseconds: 1)
                    try table.put(
                        StoredDocument(
                            path: path(number), kind: .found, contents: contents(number),
                            createTime: time, updateTime: time, readTime: time))
                }
            }
            if half == 0 { store.moveLog() }
        }
        let copy = try StoreCopy(of: disk.path("store.sqlite"))
        return Files(
            file: try Data(contentsOf: URL(fileURLWithPath: copy.path)),
            log: try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal")))
    }

    private static func check(_ path: String, _ key: StoreKeySource?) throws {
        let store = try DocumentStore(.file(path), key: key)
        try StoreInspection(store: store).check()
        try store.read { transaction in
            let table = transaction.documents(of: database)
            for number in 0..<documents {
                let held = try table.document(at: self.path(number))?.contents
                if held != contents(number) { throw DiskViolation("document \(number)") }
            }
        }
        try store.close()
    }

    private static func change(_ path: String, _ atRest: AtRest) throws {
        try DocumentStore.changeKey(of: path, migrations: [], from: atRest.key, to: newKey)
    }

    /// - Returns: The number of disk changes that were made or tried, and whether the file has the
    ///   new key.
    private func cut(
        _ files: Files, _ atRest: AtRest, after changes: Int
    ) throws -> (all: Int, isNew: Bool) {
        let disk = try LossyDisk(seed: UInt64(changes))
        let path = disk.path("store.sqlite")
        try files.file.write(to: URL(fileURLWithPath: path))
        try files.log.write(to: URL(fileURLWithPath: path + "-wal"))
        return try StoreLayer.$replacing.withValue({ try disk.replace($0, by: $1) }) {
            try LossyDisk.mounted {
                disk.fail(after: changes)
                do { try Self.change(path, atRest) } catch {
                    guard disk.isOff else { throw error }
                }
                let all = disk.changes
                if !disk.isOff { disk.fail(after: 0) }
                if changes.isMultiple(of: 3) {
                    disk.restartAfterKill()
                } else {
                    try disk.restartAfterPowerLoss()
                }
                var isNew = true
                do { try Self.check(path, Self.newKey) } catch {
                    switch error {
                    case StoreError.wrongKey, StoreError.notEncrypted: isNew = false
                    default: throw error
                    }
                    try Self.check(path, atRest.key)
                }
                // The next start finishes the change despite the leftover files.
                try Self.change(path, atRest)
                try Self.check(path, Self.newKey)
                #expect(throws: atRest == .plain ? StoreError.keyMissing : .wrongKey) {
                    try Self.check(path, atRest.key)
                }
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: disk.folder)
                        == ["store.sqlite"])
                return (all, isNew)
            }
        }
    }

    @Test(arguments: AtRest.allCases)
    func `a file has one key or the other, and all that it had`(atRest: AtRest) throws {
        let files = try Self.files(atRest)
        let all = try cut(files, atRest, after: .max).all
        #expect(all > 20, "\(all)")
        var counts = [true: 0, false: 0]
        for changes in 0...all {
            do {
                let isNew = try cut(files, atRest, after: changes).isNew
                counts[isNew]! += 1
            } catch {
                Issue.record("cut after \(changes) of \(all): \(error)")
            }
        }
        #expect(counts[true]! > 0 && counts[false]! > 10, "\(counts)")
    }

    @Test func `a file that is open is left as it is`() throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("store.sqlite")
        let store = try DocumentStore(.file(path), key: AtRest.encrypted.key)
        #expect(throws: StoreError.locked) { try Self.change(path, .encrypted) }
        try store.close()
        try Self.change(path, .encrypted)
        try Self.change(path, .encrypted)
        _ = try DocumentStore(.file(path), key: Self.newKey)
    }

    @Test func `a key that cannot be given, or is another one, changes nothing`() throws {
        struct Locked: Error {}
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("store.sqlite")
        try DocumentStore(.file(path), key: AtRest.encrypted.key).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let locked: StoreKeySource = { throw Locked() }
        for key in [nil, AtRest.otherKey, locked] as [StoreKeySource?] {
            #expect(throws: StoreError.self) {
                try DocumentStore.changeKey(of: path, migrations: [], from: key, to: Self.newKey)
            }
        }
        #expect(throws: StoreError.keyUnavailable(detail: "Locked()")) {
            try DocumentStore.changeKey(
                of: path, migrations: [], from: AtRest.encrypted.key, to: locked)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
