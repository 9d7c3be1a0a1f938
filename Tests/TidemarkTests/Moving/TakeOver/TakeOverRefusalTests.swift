import Foundation
import Testing
import TidemarkModel
import TidemarkTestKit
import TidemarkTesting

@testable import Tidemark

/// Tests that a store that cannot be taken over gives a sentence, and that nothing is lost.
@Suite(.timeLimit(.minutes(2))) struct `A store that cannot be taken over` {
    private static let parts = 8
    private let local: LocalFirestore
    private let temporary: TemporaryFolder

    init() throws {
        local = try LocalFirestore.start(projectID: OldPhone.project)
        temporary = try TemporaryFolder()
    }

    private var folder: URL { URL(fileURLWithPath: temporary.path).appendingPathComponent("main") }

    private func takeOver(_ documents: CacheTakeOver.Documents = .all) async throws
        -> CacheTakeOver.Outcome
    {
        let phone = try local.firestore(cache: .directory(temporary.path + "/new"))
        await phone.disableNetwork()
        try await phone.changeUser(to: "ann")
        let outcome = try await phone.takeOver(folder, user: "ann", documents: documents).outcome()
        #expect(try await phone.pendingWrites().count == outcome.writes.queued.count)
        await phone.terminate()
        return outcome
    }

    private func old(_ version: String = "8", project: String = OldPhone.project) throws -> OldPhone
    {
        var old = try OldPhone(folder, version: version)
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        let name = "projects/\(project)/databases/(default)/documents"
        for index in 100..<400 {
            let path = "rooms/r\(index)"
            old.put(
                document: path,
                TestMessage.document(
                    name + "/" + path, fields: [("n", .string(String(repeating: "x", count: 200)))],
                    updateTime: time))
        }
        old.put(
            target: TestMessage.query("rooms"), parent: name,
            rows: (100..<400).map { "rooms/r\($0)" }, version: time, token: [1])
        old.leaveWrite(of: "ann", batch: 1, path: "rooms/r100", value: .integer(1))
        return old
    }

    @Test(arguments: ["9", "100", "new", ""])
    func `of an unknown version keeps its documents, and its writes are moved`(
        version: String
    ) async throws {
        var old = try old(version)
        try old.finish()
        let outcome = try await takeOver()
        #expect(outcome.refusal == .unknownVersion(Int(version).map { "\($0)" } ?? ""))
        #expect(outcome.writes.queued.count == 1 && outcome.documents == 0)
        await local.stop()
    }

    @Test func `of another project is named`() async throws {
        var old = try old(project: "elsewhere")
        try old.finish()
        let outcome = try await takeOver()
        #expect(
            outcome.refusal == .otherDatabase("projects/elsewhere/databases/(default)"))
        #expect(outcome.documents == 0)
        await local.stop()
    }

    @Test func `of an old version gives its documents and no results`() async throws {
        var old = try old("2")
        try old.finish()
        let outcome = try await takeOver()
        #expect(outcome.refusal == nil && outcome.documents == 300 && outcome.targets == 0)
        await local.stop()
    }

    @Test func `that is not there is said`() async throws {
        let outcome = try await takeOver()
        #expect(outcome.refusal == .unreadable(.notAStore(folder: folder.path)))
        #expect(outcome.writesProblem == .notAStore(folder: folder.path) && !outcome.mayRemove)
        await local.stop()
    }

    /// Each table is damaged, one block after the other: no result is taken whose rows are not
    /// certain, and whatever can be read of the documents is there. Each place costs 28 syncs of
    /// the disk, which take seconds where the disk is busy, so each part of the places is a test.
    @Test(arguments: 0..<parts) func `in which a block is damaged gives the rest`(
        part: Int
    ) async throws {
        var old = try old()
        try old.store.flush()
        try old.store.compact(to: 1)
        try old.finish()
        let whole = try files(in: folder)
        let (name, table) = try #require(whole.first { $0.key.hasSuffix(".ldb") })
        var lost = 0
        let places = Array(stride(from: 0, to: table.count, by: 997)).enumerated()
        for (number, place) in places where number % Self.parts == part {
            var data = table
            data[place] ^= 0x40
            try data.write(to: folder.appendingPathComponent(name))
            let outcome = try await takeOver()
            if outcome.refusal == nil { #expect(outcome.documents <= 300) }
            if outcome.documents < 300 {
                #expect(!outcome.problems.isEmpty || outcome.refusal != nil, "\(place)")
                #expect(outcome.targets == 0, "\(place)")
                lost += 1
            }
            try FileManager.default.removeItem(atPath: temporary.path + "/new")
        }
        #expect(lost > 10 / Self.parts)
        await local.stop()
    }

    @Test func `that is half deleted gives a sentence`() async throws {
        var old = try old()
        try old.store.flush()
        try old.finish()
        for name in try files(in: folder).keys.sorted() {
            let copy = folder.appendingPathExtension("copy")
            try FileManager.default.copyItem(at: folder, to: copy)
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            let outcome = try await takeOver()
            #expect(outcome.refusal != nil || !outcome.problems.isEmpty, "\(name)")
            #expect(outcome.targets == 0 && !outcome.mayRemove, "\(name)")
            if let refusal = outcome.refusal { #expect(refusal.message.hasSuffix(".")) }
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.moveItem(at: copy, to: folder)
            try? FileManager.default.removeItem(atPath: temporary.path + "/new")
        }
        await local.stop()
    }

    /// A folder has the place of a file, so the system refuses to read it, as on a locked device.
    @Test func `that cannot be read now is left for the next start`() async throws {
        var old = try old()
        try old.finish()
        let name = try #require(try files(in: folder).keys.first { $0.hasSuffix(".log") })
        let log = folder.appendingPathComponent(name)
        let kept = folder.appendingPathExtension("kept")
        try FileManager.default.moveItem(at: log, to: kept)
        try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
        let outcome = try await takeOver()
        guard case .unreadable(.unreadable(let file, _))? = outcome.refusal else {
            Issue.record("\(String(describing: outcome.refusal))")
            return
        }
        #expect(file == name && !outcome.mayRemove && outcome.documents == 0)
        try FileManager.default.removeItem(at: log)
        try FileManager.default.moveItem(at: kept, to: log)
        let next = try await takeOver()
        #expect(next.refusal == nil && next.documents == 300 && next.mayRemove)
        await local.stop()
    }

    /// The file is sparse: a log that was allocated in advance, or that a disk has filled with
    /// zeros.
    @Test func `of two gigabytes is read block by block`() throws {
        var old = try old()
        try old.finish()
        let name = try #require(try files(in: folder).keys.first { $0.hasSuffix(".log") })
        let log = try FileHandle(forWritingTo: folder.appendingPathComponent(name))
        try log.truncate(atOffset: 2 << 30)
        try log.close()
        let reader = try StoreReader(folder, under: [StoreKey.documents])
        var cursor = reader.cursor(under: StoreKey.documents)
        var count = 0
        while try cursor.next() != nil { count += 1 }
        #expect(count == 300 && reader.damage.isNone)
    }

    @Test func `is not removed half`() throws {
        var old = try old()
        try old.finish()
        let root = URL(fileURLWithPath: temporary.path).appendingPathComponent("firestore")
        let place = FirebaseStore.folder(in: root, OldPhone.project, "(default)", "app")
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        func found() -> URL? {
            FirebaseStore.folder(in: [root], OldPhone.project, "(default)", "app")
        }
        for steps in 0...2 {
            try FileManager.default.copyItem(at: folder, to: place)
            #expect(found()?.path == place.path)
            let removal = FirebaseStore.Removal(of: place)
            for _ in 0..<steps { #expect(try removal.step()) }
            if steps == 1 {
                // A kill while the files are removed, one of which is left.
                let rest = place.deletingLastPathComponent().appendingPathComponent("main-removed")
                try FileManager.default.removeItem(at: rest.appendingPathComponent("CURRENT"))
            }
            if steps > 0 {
                #expect(throws: FirebaseStoreError.notAStore(folder: place.path)) {
                    try FirebaseStore(folder: place)
                }
                #expect(found() == nil)
            }
            try FirebaseStore.remove(place)
            let left = try FileManager.default.contentsOfDirectory(
                atPath: place.deletingLastPathComponent().path)
            #expect(left.isEmpty, "\(steps)")
        }
    }
}
