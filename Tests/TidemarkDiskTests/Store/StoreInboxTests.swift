import Foundation
import Testing
import TidemarkEncryption
import TidemarkModel

@testable import TidemarkStore
@testable import TidemarkSync

/// Checks the messages on disk that processes leave for the holder of a cache.
struct StoreInboxTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let text = "in the kitchen"

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var path: String { folder.path + "/cache.sqlite" }

    private func file(_ name: String) -> URL {
        folder.appendingPathComponent("cache.sqlite.inbox/" + name + ".write")
    }

    private func message(_ number: Int = 0) -> [UInt8] {
        SharedWrite(
            time: Timestamp(microseconds: 7), user: nil,
            mutations: [
                Mutation(
                    path: DocumentPath(unchecked: "rooms/r\(number)"),
                    .set(["text": .string(Self.text)]))
            ]
        ).bytes
    }

    @Test(arguments: AtRest.allCases)
    func `messages are read as they were written, in the order of their names`(
        atRest: AtRest
    ) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let inbox = StoreInbox(of: path, key: atRest.key)
        #expect(inbox.contents() == StoreInbox.Contents())
        for name in ["b", "a", "c"] { try inbox.add(message() + Array(name.utf8), name) }
        #expect(inbox.contents().names == ["a", "b", "c"])
        #expect(try inbox.message("b") == message() + Array("b".utf8))
        let bytes = try Data(contentsOf: file("b"))
        #expect((bytes.range(of: Data(Self.text.utf8)) == nil) == (atRest == .encrypted))
        let mode = try FileManager.default.attributesOfItem(atPath: file("b").path)[
            .posixPermissions]
        #expect(mode as? Int == 0o600)
        try inbox.remove("b")
        #expect(try inbox.message("b") == nil && inbox.contents().names == ["a", "c"])
        try inbox.ask()
        #expect(inbox.contents().isWanted)
        inbox.endRequest()
        #expect(!inbox.contents().isWanted)
        try StoreInbox.erase(of: path)
        #expect(inbox.contents() == StoreInbox.Contents())
    }

    /// The lengths range from a page to about the limit of a message.
    @Test(arguments: AtRest.allCases, [4_096, 4_097, 100_000, 15 << 20])
    func `a long message is read as it was written`(atRest: AtRest, length: Int) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let inbox = StoreInbox(of: path, key: atRest.key)
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try inbox.add(message, "a")
        #expect(try inbox.message("a") == message)
    }

    @Test(arguments: AtRest.allCases)
    func `a byte that the disk has changed, and another name, are found`(atRest: AtRest) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let inbox = StoreInbox(of: path, key: atRest.key)
        try inbox.add(message(), "a")
        let whole = try Data(contentsOf: file("a"))
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 0x10
            try changed.write(to: file("a"))
            // In an encrypted message, four bytes only state the kind of the file.
            let read = try? inbox.message("a")
            #expect(
                read == nil
                    || atRest == .encrypted && (8..<12).contains(place) && read == message(),
                "byte \(place)")
        }
        for length in whole.indices {
            try whole.prefix(length).write(to: file("a"))
            #expect(throws: StoreError.self, "\(length) bytes") { try inbox.message("a") }
        }
        try whole.write(to: file("b"))
        #expect(throws: StoreError.corrupt(detail: "a message is not as it was written")) {
            try inbox.message("b")
        }
    }

    @Test func `another key, none and a new one are told apart`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (sealed, plain) = (
            StoreInbox(of: path, key: AtRest.encrypted.key), StoreInbox(of: path)
        )
        try sealed.add(message(), "a")
        #expect(throws: StoreError.keyMissing) { try plain.message("a") }
        let key = CacheEncryption.aes256 { CacheKey((1..<33).map { UInt8($0) })! }.key
        let other = StoreInbox(of: path, key: key)
        #expect(throws: StoreError.wrongKey) { try other.message("a") }
        for _ in 0..<2 {
            try StoreInbox.changeKey(of: path, from: AtRest.encrypted.key, to: key)
            #expect(try other.message("a") == message())
        }
        try plain.add(message(), "b")
        #expect(throws: StoreError.notEncrypted) { try other.message("b") }
    }

    @Test func `a message that nobody can read is set aside among the refused writes`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let local = try LocalStore(.file(path), database: Self.database)
        let inbox = StoreInbox(of: path)
        for number in 0..<3 { try inbox.add(message(number), "m\(number)") }
        var bytes = try Data(contentsOf: file("m1"))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: file("m1"))
        var taking = InboxTaking(inbox, local, now: Timestamp(microseconds: 9))
        #expect(try taking.take(most: .max))
        let paths = local.queue.pending.batches.flatMap(\.paths).map(\.text)
        #expect(paths == ["rooms/r0", "rooms/r2"])
        #expect(try local.queue.rejectedWrites().map(\.reason.code) == [.dataLoss])
        #expect(inbox.contents().names.isEmpty)
        #expect(FileManager.default.fileExists(atPath: file("m1").path + ".damaged"))
        try local.close()
    }

    /// There are more messages than the store remembers as queued. In each round, the disk fails
    /// before some messages are removed.
    @Test func `no message is queued twice, however many wait`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = SharedBatches.most + SharedBatches.most / 2
        let inbox = StoreInbox(of: path)
        for number in 0..<count { try inbox.add(message(number), "\(100_000 + number)") }
        for mayProbe in [0, 1, 1, Int.max] {
            let probes = Counted(mayProbe)
            let local = try LocalStore(
                .file(path), database: Self.database,
                fault: { $0 == .probe && !probes.next() ? .full : nil })
            var taking = InboxTaking(inbox, local, now: Timestamp(microseconds: 9))
            do {
                _ = try taking.take(most: .max)
                #expect(mayProbe == .max)
            } catch { #expect(mayProbe < .max) }
            let paths = local.queue.pending.batches.flatMap(\.paths)
            #expect(Set(paths).count == paths.count)
            if mayProbe == .max { #expect(paths.count == count && inbox.contents().names.isEmpty) }
            try local.close()
        }
    }
}

private final class Counted: @unchecked Sendable {  // of one thread
    private var left: Int

    init(_ count: Int) { left = count }

    func next() -> Bool {
        left -= 1
        return left >= 0
    }
}
