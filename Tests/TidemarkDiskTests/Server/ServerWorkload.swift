import Foundation
import Synchronization
import TidemarkModel
import TidemarkSimulation
import TidemarkStore
import TidemarkTesting

@testable import TidemarkServer

/// Runs a server on a disk that fails at a random moment, and a model that applies the same
/// commits.
///
/// After the failure, the server holds every acknowledged commit. It may also hold the first of the
/// other commits, each as a whole and in their order. Reads at the times of earlier commits return
/// the documents of those times.
final class ServerWorkload {
    struct Tally {
        var cuts = 0
        /// The rounds in which the server held a commit without an acknowledgement.
        var untold = 0
        var acknowledged = 0
    }

    typealias Documents = [DocumentPath: MapValue]

    private let disk: LossyDisk
    private var dice: Dice
    private let defect: DiskDefect?
    private let time = VirtualScheduler()
    private(set) var tally = Tally()
    private var step: Int64 = 0
    /// The documents that the server must hold.
    private var documents: Documents = [:]
    /// The times of acknowledged commits, with the documents that the server held then.
    private var past: [(time: Timestamp, documents: Documents)] = []

    private static let database = try! DatabaseID(project: "disk")
    private static let collections = ["rooms", "items", "rooms/r1/items"]
    private static let rounds = 3
    private static let steps = 25
    private static let mostChanges = 120
    private static let looksBack = 4

    init(seed: UInt64, defect: DiskDefect? = nil) throws {
        disk = try LossyDisk(seed: seed &+ 1)
        dice = Dice(seed: seed)
        self.defect = defect
        try Self.template.get().write(
            to: URL(fileURLWithPath: disk.path("tidemark-server.sqlite")))
    }

    func run() throws {
        try LossyDisk.mounted {
            for _ in 0..<Self.rounds { try round() }
        }
    }

    // MARK: One life

    private final class Running {
        let process: WorldProcess
        let server: FirestoreServer

        init(_ folder: String, _ time: VirtualScheduler) throws {
            let process = WorldProcess(on: time)
            let bits = Mutex<UInt64>(0)
            self.process = process
            server = try FirestoreServer(
                .init(dataDirectory: folder),
                environment: ServerEnvironment(
                    now: { time.now },
                    randomBits: {
                        bits.withLock { bits in
                            bits += 1
                            return bits
                        }
                    }, executor: process))
        }

        func end() {
            process.kill()
            server.abandon()
        }
    }

    private func round() throws {
        let running = try start()
        disk.defect = defect
        disk.fail(after: 1 + dice.roll(Self.mostChanges))
        // The documents after each pending commit.
        var open: [Documents] = []
        for _ in 0..<Self.steps where !disk.isOff {
            time.advance(by: .milliseconds(dice.roll(50) + 1))
            open = try commit(on: running)
        }
        tally.cuts += disk.isOff ? 1 : 0
        disk.defect = nil
        if !disk.isOff { disk.fail(after: 0) }
        running.end()
        if dice.chance(25) {
            disk.restartAfterKill()
        } else {
            try disk.restartAfterPowerLoss()
        }
        try check(open)
    }

    private func start() throws -> Running {
        do { return try Running(disk.folder, time) } catch {
            throw DiskViolation("it does not start: \(error)")
        }
    }

    /// Sends several commits that the server processes together.
    ///
    /// - Returns: The documents after each commit that was not acknowledged, in order.
    private func commit(on running: Running) throws -> [Documents] {
        let commits = (0..<dice.pick([1, 1, 3])).map { _ in
            (0..<dice.pick([1, 2, 8])).map { _ in mutation() }
        }
        let replies = commits.map { commit in
            let heard = Heard()
            _ = running.server.call(
                .commit(CommitRequest(mutations: commit)), CallContext(database: Self.database)
            ) { heard.receive($0) }
            return heard
        }
        time.runUntilIdle()
        var next = documents
        var open: [Documents] = []
        for (commit, reply) in zip(commits, replies) {
            for mutation in commit { apply(mutation, to: &next) }
            if let commitTime = reply.commitTime {
                guard open.isEmpty else {
                    throw DiskViolation("acknowledged after one that was not")
                }
                documents = next
                past.append((commitTime, documents))
                tally.acknowledged += 1
            } else {
                guard disk.isOff else { throw DiskViolation("refused: \(reply.status as Any)") }
                open.append(next)
            }
        }
        return open
    }

    private final class Heard: Sendable {
        private let state = Mutex<(commitTime: Timestamp?, status: RPCStatus?)>((nil, nil))
        var commitTime: Timestamp? { state.withLock(\.commitTime) }
        var status: RPCStatus? { state.withLock(\.status) }

        func receive(_ event: StreamEvent<Reply>) {
            state.withLock { state in
                switch event {
                case .message(.commit(let reply)): state.commitTime = reply.commitTime
                case .message: break
                case .ended(let status): state.status = status
                }
            }
        }
    }

    // MARK: Commits

    private func mutation() -> Mutation {
        step += 1
        let path = DocumentPath(
            unchecked: "\(dice.pick(Self.collections))/r\(dice.roll(12))")
        switch dice.roll(5) {
        case 0: return Mutation(path: path, .delete)
        case 1:
            return Mutation(
                path: path, .patch([:], mask: []),
                transforms: [FieldTransform(FieldPath(name: "n"), .increment(.integer(1)))])
        default:
            return Mutation(
                path: path,
                .set([
                    "n": .integer(step), "g": .integer(Int64(dice.roll(5))),
                    "text": .bytes(
                        [UInt8](
                            repeating: UInt8(truncatingIfNeeded: step),
                            count: dice.pick([10, 300, 300, 9_000]))),
                ]))
        }
    }

    private func apply(_ mutation: Mutation, to documents: inout Documents) {
        switch mutation.operation {
        case .set(let fields): documents[mutation.path] = fields
        case .delete: documents[mutation.path] = nil
        case .patch, .verify:
            var fields = documents[mutation.path] ?? [:]
            var number: Int64 = 0
            if case .integer(let old)? = fields["n"] { number = old }
            fields["n"] = .integer(number + 1)
            documents[mutation.path] = fields
        }
    }

    // MARK: What is found

    private func check(_ open: [Documents]) throws {
        let running = try start()
        defer { running.server.close() }
        let found = try held(by: running, nil)
        if found != documents {
            guard let place = open.firstIndex(of: found) else {
                throw DiskViolation("\(found.count) documents that never were together")
            }
            documents = open[place]
            tally.untold += 1
        }
        for _ in 0..<min(Self.looksBack, past.count) {
            let then = dice.pick(past)
            if try held(by: running, then.time) != then.documents {
                throw DiskViolation("the past of \(then.time) is another one")
            }
        }
        let store = running.server.core.withLock { $0.store }
        try StoreInspection(store: store).check()
    }

    private func held(by running: Running, _ time: Timestamp?) throws -> Documents {
        var result: Documents = [:]
        for collection in Self.collections {
            let path = CollectionPath(unchecked: collection)
            let request = RunQueryRequest(
                query: Query(collection: path), consistency: time.map { .at($0) } ?? .latest)
            let rows = Rows()
            _ = running.server.call(
                .runQuery(request), CallContext(database: Self.database)
            ) { rows.receive($0) }
            self.time.runUntilIdle()
            for document in try rows.get() { result[document.path] = document.fields }
        }
        return result
    }

    private final class Rows: Sendable {
        private let state = Mutex<(documents: [Document], end: RPCStatus?)>(([], nil))

        func receive(_ event: StreamEvent<Reply>) {
            state.withLock { state in
                switch event {
                case .message(.runQuery(let row)):
                    if let document = row.document { state.documents.append(document) }
                case .message: break
                case .ended(let status): state.end = status
                }
            }
        }

        func get() throws -> [Document] {
            try state.withLock { state in
                if state.end?.code != .ok { throw DiskViolation("a read: \(state.end as Any)") }
                return state.documents
            }
        }
    }

    /// A new file with indexes, which the queries can use from the start.
    private static let template = Result<Data, any Error> {
        let disk = try LossyDisk(seed: 0)
        let time = VirtualScheduler()
        let running = try Running(disk.folder, time)
        try running.server.core.withLock { core in
            try core.store.write { transaction in
                let table = transaction.documents(of: database)
                for id in ["rooms", "items"] {
                    let fields = ["g", "n"].map { IndexDefinition.Field(FieldPath(name: $0)) }
                    try table.declareIndex(IndexDefinition(collectionID: id, fields: fields))
                    try table.declareIndex(
                        IndexDefinition(collectionID: id, scope: .group, fields: [fields[1]]))
                }
            }
        }
        running.server.close()
        return try Data(
            contentsOf: URL(fileURLWithPath: disk.path("tidemark-server.sqlite")))
    }
}
