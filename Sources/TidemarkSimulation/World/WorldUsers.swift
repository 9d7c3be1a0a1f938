import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// Who writes: a user on a device, with a queue of their own; or the outside.
package struct WorldWriter: Hashable, Comparable, Sendable {
    /// Nil for the outside.
    let client: Int?
    /// Nil for nobody in particular.
    let user: String?

    static let outside = WorldWriter(client: nil, user: nil)

    package var name: String {
        guard let client else { return "x" }
        return "c\(client)" + (user.map { "-\($0)" } ?? "")
    }

    package static func < (left: Self, right: Self) -> Bool { left.name < right.name }
}

/// A change of a client's user that was asked for and is not done.
struct WorldUserChange {
    let writer: WorldWriter
    /// Whose cache goes with it; nil when it stays.
    let erased: WorldWriter?
}

enum WorldUsers {
    static let all: [String?] = [nil, "ann", "ben"]
    /// Those with a cache file of their own.
    static let named = all.compactMap(\.self)
}

// What one user has written or read is never another's: what is shown, sent, answered and queued is
// compared with who is signed in.

extension World {
    func changeUser(_ client: WorldClient) {
        let next = dice.pick(WorldUsers.all.filter { $0 != client.user })
        client.changeUser(to: next, erases: !sharesCache && dice.chance(15))
    }

    func began(_ change: WorldUserChange, _ client: WorldClient) {
        note(
            "\(client.name) becomes \(change.writer.name)\(change.erased == nil ? "" : ", erasing")"
        )
        if let erased = change.erased { ledger.startErasing(erased) }
    }

    func ended(_ change: WorldUserChange, _ error: SyncError?, _ client: WorldClient) {
        note("\(client.name) is \(change.writer.name)\(error.map { ", not: \($0)" } ?? "")")
        if let error, error != .terminated {
            violate(.users, "\(client.name) cannot become \(change.writer.name): \(error)")
        }
        guard error == nil else { return }
        if let erased = change.erased { ledger.finishErasing(erased) }
        // All that the cache has, to see whose it is.
        client.read(WorldQueries.allRooms, .cache)
        client.read(WorldQueries.allOwn, .cache)
    }

    /// What a client shows is its user's, or the server's.
    func checkOwner(_ shown: ViewDocument, _ client: WorldClient) {
        let writer = client.shownTo
        if shown.path.collectionID == WorldQueries.ownCollection, !sharesCache,
            shown.path.id != writer.name
        {
            violate(
                .users, "\(writer.name) is shown what is another's: \(shown.document.worldText)")
        }
        if shown.hasLocalMutations,
            !ledger.hasWritten(writer, at: shown.path, sharesCache: sharesCache)
        {
            violate(
                .users,
                "\(writer.name) has written nothing of \(shown.document.worldText), shown so")
        }
        guard shown.hasLocalMutations || shown.hasCommittedMutations else { return }
        for id in ledger.strangers(in: shown.document, to: writer) {
            unchecked.strangers[id] = "\(writer.name) is shown \(shown.document.worldText)"
        }
    }

    /// What another has written is shown once the server has it, and not before.
    func checkStrangers() throws {
        let strangers = unchecked.strangers.sorted { $0.key < $1.key }
        unchecked.strangers = [:]
        for (id, shown) in strangers where !unchecked.applied.contains(id) {
            let journal = DocumentPath(unchecked: "journal/\(id)")
            guard case .success(let held) = server.document(at: journal, in: Self.database)
            else { continue }
            if held == nil { throw WorldViolation(.users, "\(shown), and \(id) is not applied") }
            unchecked.applied.insert(id)
        }
    }

    /// What leaves a client is of who is signed in there.
    func sent(_ mutations: [Mutation], by client: WorldClient) {
        for id in mutations.compactMap(\.entryID) {
            guard let writer = writer(of: id), writer.client == client.index else {
                violate(.users, "\(client.name) sends \(id), which is not its")
                continue
            }
            if client.userChanges.isEmpty, writer == client.writer { continue }
            violate(.users, "\(client.name) sends \(id), while \(client.shownTo.name) is signed in")
        }
    }

    private func writer(of id: String) -> WorldWriter? {
        ledger.writes[id]?.writer ?? bank.transfers[id]?.writer
    }

    /// - Returns: How many wait; nil when the engine does not say.
    func countQueue(_ client: WorldClient) -> Int? {
        let found = WorldFound<Result<[PendingWrite], SyncError>>()
        client.engine?.pendingWrites { found.value = $0 }
        time.runUntilIdle()
        guard case .success(let writes)? = found.value else { return nil }
        for id in writes.flatMap(\.mutations).compactMap(\.entryID)
        where ledger.writes[id]?.writer != client.writer {
            violate(.users, "\(client.writer.name) has \(id) in its queue")
        }
        return writes.count
    }

    /// The batches that the present user keeps as rejected.
    func rejected(_ client: WorldClient) -> Set<Int64> {
        let found = WorldFound<Result<[RejectedWrite], SyncError>>()
        client.engine?.rejectedWrites { found.value = $0 }
        time.runUntilIdle()
        guard case .success(let writes)? = found.value else { return [] }
        return Set(writes.map(\.batch))
    }

    /// Signs in those who have written and have not had their turn.
    ///
    /// - Returns: Whether there was one.
    func signInNext(after done: Set<WorldWriter>) -> Bool {
        var hasNext = false
        for client in clients {
            let next = ledger.writers.filter { $0.client == client.index && !done.contains($0) }
            guard let writer = next.min() else { continue }
            client.changeUser(to: writer.user)
            hasNext = true
        }
        return hasNext
    }
}

extension Mutation {
    /// The write or transfer whose own document this is.
    fileprivate var entryID: String? {
        switch path.collectionID {
        case "journal", WorldBank.receipts: path.id
        default: nil
        }
    }
}

/// An answer that comes within the same step.
// @unchecked: a world lives in one thread.
final class WorldFound<Value>: @unchecked Sendable { var value: Value? }
