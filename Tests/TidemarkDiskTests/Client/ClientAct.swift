import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// One transaction of a client's store, or an action without a transaction.
enum ClientAction {
    case enqueue([Mutation])
    /// Answers the batch at the head of the queue.
    case acknowledge, reject
    case position([UInt8])
    /// The rows are in one dictionary, so every store that performs the act applies them in the
    /// same order.
    case event([DocumentPath: RemoteDocument], token: [UInt8])
    case replies([RemoteDocument], record: [UInt8])
    case record([UInt8])
    case read(Query)
    case moveLog

    /// True if the act's effect survives a loss of power after the act has returned.
    var isPromised: Bool {
        switch self {
        case .enqueue, .reject, .position: true
        case .acknowledge, .event, .replies, .record, .read, .moveLog: false
        }
    }

    /// - Parameter step: The number of the act, used for versions and times.
    func perform(on local: LocalStore, target: Int32, step: Int64) throws {
        let now = Timestamp(microseconds: step)
        switch self {
        case .enqueue(let mutations): _ = try local.queue.enqueue(mutations, at: now)
        case .acknowledge:
            guard let batch = local.queue.pending.batches.first?.decoded else { return }
            let results = batch.mutations.map {
                MutationResult(
                    updateTime: now, transformResults: $0.transforms.map { _ in .integer(step) })
            }
            _ = try local.queue.acknowledge(
                batch, results, commitTime: now, position: local.queue.writePosition)
        case .reject:
            guard let batch = local.queue.pending.batches.first?.decoded else { return }
            _ = try local.queue.reject(batch, RPCStatus(.permissionDenied, "no"), at: now)
        case .position(let token):
            try local.queue.keep(WritePosition(streamID: "tidemark-disk", token: token))
        case .event(let documents, let token):
            var event = RemoteEvent(version: now)
            var delta = TargetDelta(resumeToken: token)
            event.documents = documents
            for document in documents.values {
                if case .found = document {
                    delta.added.insert(document.path)
                } else {
                    delta.removed.insert(document.path)
                }
            }
            event.targets = [target: delta]
            _ = try local.remote.apply(event) { _, _ in false }
        case .replies(let documents, let record):
            _ = try local.remote.apply(documents, readTime: now, records: ["replies": record])
        case .record(let value): try local.records.set(value, forKey: "record")
        case .read(let query): _ = try local.documents.run(query)
        case .moveLog: local.store.moveLog()
        }
    }

    // MARK: At random

    static func random(_ step: Int64, _ dice: inout Dice) -> ClientAction {
        let bytes = [UInt8(truncatingIfNeeded: step), UInt8(dice.roll(256))]
        switch dice.roll(20) {
        case 0..<7:
            return .enqueue((0..<dice.pick([1, 1, 2, 5])).map { _ in mutation(step, &dice) })
        case 7..<10: return .acknowledge
        case 10: return .reject
        case 11: return .position(bytes)
        case 12..<15:
            let documents = documents(step, &dice).map { ($0.path, $0) }
            return .event(Dictionary(uniqueKeysWithValues: documents), token: bytes)
        case 15, 16: return .replies(documents(step, &dice), record: bytes)
        case 17: return .record(bytes)
        case 18: return .read(Query(collectionID: "rooms"))
        default: return .moveLog
        }
    }

    private static func path(_ dice: inout Dice) -> DocumentPath {
        DocumentPath(unchecked: "rooms/r\(dice.roll(40))")
    }

    private static func fields(_ step: Int64, _ dice: inout Dice) -> MapValue {
        [
            "n": .integer(step), "g": .integer(Int64(dice.roll(5))),
            "tags": .array((0..<dice.roll(4)).map { .integer(Int64($0)) }),
            "text": .bytes(
                [UInt8](
                    repeating: UInt8(truncatingIfNeeded: step),
                    count: dice.pick([10, 10, 300, 300, 2_000, 9_000]))),
        ]
    }

    private static func mutation(_ step: Int64, _ dice: inout Dice) -> Mutation {
        switch dice.roll(4) {
        case 0: Mutation(path: path(&dice), .delete)
        case 1:
            Mutation(
                path: path(&dice), .patch([:], mask: []),
                transforms: [FieldTransform(FieldPath(name: "n"), .increment(.integer(1)))])
        default: Mutation(path: path(&dice), .set(fields(step, &dice)))
        }
    }

    private static func documents(_ step: Int64, _ dice: inout Dice) -> [RemoteDocument] {
        let now = Timestamp(microseconds: step)
        var paths: Set<DocumentPath> = []
        for _ in 0..<dice.pick([1, 3, 12]) { paths.insert(path(&dice)) }
        return paths.sorted().map { path in
            if dice.chance(20) { return .missing(path, now) }
            return .found(
                Document(
                    path: path, fields: fields(step, &dice), createTime: now, updateTime: now))
        }
    }
}
