import Foundation
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTestKit
import TidemarkTesting

@testable import Tidemark
@testable import TidemarkSync

/// Tests that a client takes over what FirebaseFirestore has left on a phone.
@Suite(.timeLimit(.minutes(2))) struct `FirebaseFirestore's cache` {
    private let local: LocalFirestore
    private let temporary: TemporaryFolder

    init() throws {
        local = try LocalFirestore.start(projectID: OldPhone.project)
        temporary = try TemporaryFolder()
    }

    private var folder: URL { URL(fileURLWithPath: temporary.path).appendingPathComponent("main") }

    private func phone(
        _ user: String? = "ann", in path: String = "new", label: String = "new",
        online: Bool = false
    ) async throws -> Firestore {
        let firestore = try local.firestore(
            label: label, cache: .directory(temporary.path + "/" + path))
        if !online { await firestore.disableNetwork() }
        try await firestore.changeUser(to: user)
        return firestore
    }

    private func reads(_ label: String) -> Int {
        local.meter().filter { $0.label == label }.reduce(0) { $0 + $1.reads }
    }

    private func write(_ paths: [(String, Int)]) async throws {
        let writer = try local.firestore(label: "writer")
        for (path, n) in paths { try await writer.document(path).setData(["n": n]) }
        await writer.terminate()
    }

    private static let rooms = TestMessage.query("rooms")
    private static let latest = TestMessage.query(
        "rooms", orders: [("n", true), ("__name__", true)], limit: 10)

    private func rooms(_ firestore: Firestore) -> Tidemark.Query { firestore.collection("rooms") }
    private func latest(_ firestore: Firestore) -> Tidemark.Query {
        firestore.collection("rooms").order(by: "n", descending: true).limit(to: 10)
    }

    /// Leaves the results of two queries on a phone of ann's.
    private func oldPhone(_ count: Int = 30, trace: String? = "ann") async throws -> OldPhone {
        try await write((0..<count).map { ("rooms/r\($0 + 100)", $0) })
        let results = try await OldPhone.listen(on: local, in: temporary, [rooms, latest])
        var old = try OldPhone(folder)
        if let trace { old.leaveTrace(of: trace) }
        for (query, result) in zip([Self.rooms, Self.latest], results) {
            old.put(
                target: query, rows: result.rows, version: result.version, token: result.token,
                documents: result.documents)
        }
        return old
    }

    private func takeOver(
        _ firestore: Firestore, _ user: String? = "ann",
        _ documents: CacheTakeOver.Documents = .ofOnlyUser
    ) async throws -> CacheTakeOver.Outcome {
        try await firestore.takeOver(folder, user: user, documents: documents).outcome()
    }

    private func cached(_ query: Tidemark.Query) async throws -> [String] {
        try await query.getDocuments(source: .cache).documents.map(\.documentID)
    }

    // MARK: What is taken

    @Test func `shows its content without a network, and reads what changed`() async throws {
        var old = try await oldPhone()
        try old.finish()
        let before = try files(in: folder)
        let phone = try await phone()
        let outcome = try await takeOver(phone)
        #expect(outcome.refusal == nil && outcome.documents == 30 && outcome.targets == 2)
        #expect(outcome.leftOut.isEmpty && outcome.problems.isEmpty && outcome.mayRemove)
        #expect(try await cached(rooms(phone)) == (100..<130).map { "r\($0)" })
        #expect(try await cached(latest(phone)) == (120..<130).reversed().map { "r\($0)" })
        let row = try await phone.document("rooms/r100").getDocument(source: .cache)
        #expect(row["n"] as? Int == 0 && row.createTime == nil && row.updateTime != nil)
        #expect(reads("new") == 0)
        try await write([("rooms/r105", 500), ("rooms/r130", 30)])
        await phone.enableNetwork()
        var fresh: [String] = []
        for try await snapshot in rooms(phone).snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache {
            fresh = snapshot.documents.map(\.documentID)
            break
        }
        #expect(fresh == (100..<131).map { "r\($0)" })
        #expect(reads("new") == 2, "what changed, and nothing else")
        #expect(try files(in: folder) == before, "nothing in the store has changed")
        await local.stop()
    }

    @Test func `is there when the call returns, as far as the first screen needs it`() async throws
    {
        var old = try await oldPhone()
        try old.finish()
        let phone = try await phone()
        let takeOver = try await phone.takeOver(folder, user: "ann", first: [latest(phone)])
        #expect(try await cached(latest(phone)).count == 10)
        var last = CacheTakeOver.Progress()
        for await progress in takeOver.progress { last = progress }
        #expect(last.isDone && last.hasFirstScreen && last.documents == 30 && last.targets == 2)
        await local.stop()
    }

    @Test func `gives up a query of which a row is missing or older`() async throws {
        for fault in ["missing", "deleted", "unreadable", "otherName"] {
            let temporary = try TemporaryFolder()
            let results = try await OldPhone.listen(on: local, in: temporary, [rooms])
            if results[0].rows.isEmpty {
                try await write((0..<30).map { ("rooms/r\($0 + 100)", $0) })
            }
            let result = try await OldPhone.listen(on: local, in: temporary, [rooms])[0]
            let url = URL(fileURLWithPath: temporary.path).appendingPathComponent("main")
            var old = try OldPhone(url)
            old.leaveTrace(of: "ann")
            old.put(
                target: Self.rooms, rows: result.rows, version: result.version,
                token: result.token, documents: result.documents)
            let name = OldPhone.root + "/rooms/r105"
            switch fault {
            case "missing": old.put([(TestKey.document("rooms/r105"), nil)])
            case "deleted":
                old.put(
                    document: "rooms/r105",
                    TestMessage.noDocument(1, name: name, version: result.version))
            case "unreadable": old.put(document: "rooms/r105", [9, 9, 9])
            default:
                old.put(
                    document: "rooms/r105",
                    TestMessage.document(name + "x", fields: [], updateTime: result.version))
            }
            try old.finish()
            let phone = try await phone(in: "new-" + fault)
            let outcome = try await phone.takeOver(url, user: "ann").outcome()
            #expect(outcome.targets == 0 && outcome.leftOut[.incomplete] == 1, "\(fault)")
            #expect(try await cached(rooms(phone)).count == 29, "\(fault)")
        }
        await local.stop()
    }

    @Test func `keeps a row that was deleted after the result`() async throws {
        var old = try await oldPhone()
        let later = Timestamp(seconds: local.now.seconds + 60, nanoseconds: 0)
        old.put(
            document: "rooms/r105",
            TestMessage.noDocument(1, name: OldPhone.root + "/rooms/r105", version: later))
        try old.finish()
        let phone = try await phone()
        let outcome = try await takeOver(phone)
        #expect(outcome.targets == 2 && outcome.leftOut.isEmpty)
        #expect(try await cached(rooms(phone)).count == 29)
        await local.stop()
    }

    @Test func `begins a query anew when the server refuses its token`() async throws {
        try await write((0..<5).map { ("rooms/r\($0 + 100)", $0) })
        let result = try await OldPhone.listen(on: local, in: temporary, [rooms])[0]
        var old = try OldPhone(folder)
        old.leaveTrace(of: "ann")
        old.put(
            target: Self.rooms, rows: result.rows, version: result.version,
            token: [1, 2, 3], documents: result.documents)
        try old.finish()
        let phone = try await phone()
        #expect(try await takeOver(phone).targets == 1)
        await phone.enableNetwork()
        for try await snapshot in rooms(phone).snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache {
            #expect(snapshot.documents.count == 5)
            break
        }
        #expect(reads("new") == 5)
        await local.stop()
    }

    // MARK: Whose documents

    @Test(arguments: [nil, "bob"] as [String?])
    func `stays where its owner is not known`(trace: String?) async throws {
        var old = try await oldPhone(trace: trace)
        old.leaveWrite(of: "ann", batch: 7, path: "rooms/own", value: .integer(1))
        if trace == nil {
            // The write of ann is a trace of hers; without it there is none.
            old.put([(TestKey.mutation("ann", 7), nil)])
        }
        try old.finish()
        let phone = try await phone()
        let outcome = try await takeOver(phone)
        let expected: CacheTakeOver.Refusal = trace == nil ? .unknownOwner : .otherUsers
        #expect(outcome.refusal == expected)
        #expect(outcome.writes.queued.count == (trace == nil ? 0 : 1), "the writes are ann's")
        #expect(try await cached(rooms(phone)) == (trace == nil ? [] : ["own"]))
        let all = try await takeOver(phone, "ann", .matching { $0.id < "r110" })
        #expect(all.refusal == nil && all.leftOut[.notAccepted] == 20 && all.targets == 0)
        await local.stop()
    }

    @Test func `goes to one user of the device`() async throws {
        var old = try await oldPhone()
        try old.finish()
        let phone = try await phone()
        #expect(try await takeOver(phone, "ann", .all).refusal == nil)
        #expect(try await takeOver(phone, "ann", .all).refusal == .takenBefore)
        try await phone.changeUser(to: "bob")
        #expect(try await takeOver(phone, "bob", .all).refusal == .takenBefore)
        #expect(try await cached(rooms(phone)).isEmpty)
        do throws(FirestoreError) {
            _ = try await phone.takeOver(folder, user: "ann", documents: .all).outcome()
            Issue.record("the client is bob's")
        } catch { #expect(error.code == .failedPrecondition) }
        await local.stop()
    }

    @Test func `is taken by one of two calls at once`() async throws {
        var old = try await oldPhone(1_050)
        try old.finish()
        let phone = try await phone()
        let folder = folder
        async let one = phone.takeOver(folder, user: "ann").outcome()
        async let other = phone.takeOver(folder, user: "ann").outcome()
        let both = try await [one, other]
        #expect(both.count { $0.refusal == nil && $0.documents == 1_050 && $0.targets == 2 } == 1)
        #expect(both.count { $0.refusal == .takenBefore } == 1)
        #expect(try await cached(rooms(phone)).count == 1_050)
        await local.stop()
    }

    /// The app cancels a call, or what follows behind the first screen.
    @Test(arguments: [true, false])
    func `is taken on after a cancellation`(ofCall: Bool) async throws {
        var old = try await oldPhone(1_050)
        try old.finish()
        let phone = try await phone()
        if ofCall {
            let folder = folder
            let call = Task { try await phone.takeOver(folder, user: "ann") }
            call.cancel()
            _ = await call.result
        } else {
            let takeOver = try await phone.takeOver(folder, user: "ann", first: [latest(phone)])
            takeOver.cancel()
            #expect(try await cached(latest(phone)).count == 10)
            do { _ = try await takeOver.outcome() } catch { #expect(error.code == .cancelled) }
        }
        let outcome = try await takeOver(phone)
        #expect(outcome.refusal == nil || outcome.refusal == .takenBefore)
        #expect(try await cached(rooms(phone)).count == 1_050)
        #expect(try await cached(latest(phone)).count == 10)
        await phone.enableNetwork()
        for query in [rooms(phone), latest(phone)] {
            for try await snapshot in query.snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
        }
        #expect(reads("new") == 0, "both results have their tokens")
        await phone.terminate()
        await local.stop()
    }

    // MARK: Kills

    /// The app is killed after each number of parts. The next start has only what is on disk.
    @Test func `is taken on after a kill at each step`() async throws {
        var old = try await oldPhone(1_050)
        old.leaveWrite(of: "ann", batch: 7, path: "rooms/r100", value: .integer(-5))
        try old.finish()
        let cache = try FirebaseCache(
            folder, DatabaseID(project: OldPhone.project, database: "(default)"))
        let source = TakeOverSource(
            mark: cache.reader.digest, user: "ann", targetCount: cache.targets.count,
            isSpent: false)
        for kill in 0..<8 {
            let name = "kill\(kill)"
            let killed = try await phone(in: name)
            let calls = TakeOverCalls(killed.engine, source)
            let parts = TakeOverParts(calls, cache: cache, accepts: nil)
            _ = try await parts.begin()
            var left = kill
            var pass = DocumentPass(cache, after: [], taken: [], accepts: nil)
            while left > 0, let part = try pass.next() {
                let _: Int = try await answer { calls.take(part, completion: $0) }
                left -= 1
            }
            if left > 0 { try await parts.adoptTargets { _ in } }
            let copy = temporary.path + "/next\(kill)"
            try FileManager.default.copyItem(atPath: temporary.path + "/" + name, toPath: copy)
            let next = try await phone(in: "next\(kill)")
            let outcome = try await takeOver(next)
            #expect(outcome.refusal == nil && outcome.writes.queued.count == 1, "\(kill)")
            #expect(try await cached(rooms(next)).count == 1_050, "\(kill)")
            #expect(try await cached(latest(next)).count == 10)
            let first = try await next.document("rooms/r100").getDocument(source: .cache)
            #expect(first["n"] as? Int == -5)
            await next.enableNetwork()
            let before = reads("new")
            for try await snapshot in latest(next).snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
            #expect(reads("new") - before <= 1, "the token of \(kill) was taken")
            await killed.terminate()
            await next.terminate()
        }
        await local.stop()
    }

    /// The app is killed behind the first screen, behind the queries that were used last, and at
    /// the end.
    @Test(arguments: 1...3)
    func `is taken on after a kill behind its first screen`(step: Int) async throws {
        var old = try await oldPhone()
        try old.finish()
        let cache = try FirebaseCache(
            folder, DatabaseID(project: OldPhone.project, database: "(default)"))
        let source = TakeOverSource(
            mark: cache.reader.digest, user: "ann", targetCount: cache.targets.count,
            isSpent: false)
        let killed = try await phone(in: "killed")
        let parts = TakeOverParts(
            TakeOverCalls(killed.engine, source), cache: cache, accepts: nil)
        _ = try await parts.begin()
        try await parts.take([latest(killed).runnable()]) {}
        #expect(parts.targetCount == 1, "the first screen alone")
        #expect(try await cached(latest(killed)).count == 10)
        if step > 1 { try await parts.takeLatest {} }
        if step > 2 {
            try await parts.takeAll { _ in }
            try await parts.adoptTargets { _ in }
            try await parts.finish()
        }
        let next = temporary.path + "/next"
        try FileManager.default.copyItem(atPath: temporary.path + "/killed", toPath: next)
        let phone = try await phone(in: "next")
        let outcome = try await takeOver(phone)
        #expect(outcome.refusal == (step > 2 ? .takenBefore : nil))
        #expect(try await cached(rooms(phone)).count == 30)
        await phone.enableNetwork()
        for query in [rooms(phone), latest(phone)] {
            for try await snapshot in query.snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
        }
        #expect(reads("new") == 0, "both results have their tokens")
        await killed.terminate()
        await phone.terminate()
        await local.stop()
    }
}
