import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkServer

/// Random transactions use the lock table. The test keeps its own list of the locks and compares
/// both.
@Suite(.ownThread) struct LockPropertyTests {
    @Test(arguments: UInt64(0)..<200)
    func `no conflicting grants, no lost waiter, and every wait ends`(seed: UInt64) {
        var world = LockWorld(seed: seed)
        for _ in 0..<300 {
            world.step()
            #expect(world.complaint == nil, "seed \(seed)")
            if world.complaint != nil { return }
        }
        world.endAll()
        #expect(world.complaint == nil, "seed \(seed)")
        #expect(world.waiting.isEmpty, "seed \(seed): somebody waits for nobody")
        #expect(!world.table.concerns(.test), "seed \(seed): something is left in the table")
        #expect(world.table.owners.isEmpty && world.table.waiters.isEmpty, "seed \(seed)")
    }
}

/// A world with up to eight transactions, and with plain writes, over five documents and three
/// queries.
private struct LockWorld {
    struct Waiting {
        let access: LockAccess
        /// The waiting transaction; nil for a plain write.
        let id: TransactionID?
    }

    var table = LockTable()
    var waiting: [LockTicket: Waiting] = [:]
    var complaint: String?
    private var random: SeededRandom
    /// The age of each open transaction. The next two properties hold its locked documents and
    /// queries.
    private var open: [TransactionID: LockAge] = [:]
    private var documents: [TransactionID: Set<DocumentPath>] = [:]
    private var queries: [TransactionID: [LockedQuery]] = [:]
    private var begun: UInt64 = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private static let paths = ["c/a", "c/b", "c/d", "d/a", "d/b"].map(path)
    private static let locked = [
        Query(collectionID: "c"), Query(collectionID: "d", allDescendants: true),
        Query(
            collectionID: "c",
            filter: .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(5))),
    ].map { LockedQuery($0, in: .test) }

    // MARK: What happens

    mutating func step() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...1: begin()
        case 2...5: withTransaction { world, id in world.read(id) }
        case 6...7: withTransaction { world, id in world.write(id) }
        case 8: write(nil)
        case 9...10: withTransaction { world, id in world.end(id) }
        default:
            if let ticket = waiting.keys.sorted().randomElement(using: &random) {
                table.cancel(ticket)
                waiting[ticket] = nil
            }
        }
        settle()
        check()
    }

    mutating func endAll() {
        for id in open.keys.sorted(by: { open[$0]! < open[$1]! }) {
            end(id)
            settle()
        }
    }

    private mutating func begin() {
        guard open.count < 8 else { return }
        begun += 1
        let first = UInt64.random(in: max(1, begun - min(begun - 1, 3))...begun, using: &random)
        open[[UInt8(begun % 256), UInt8(begun / 256)]] = LockAge(first: first, own: begun)
    }

    private mutating func withTransaction(_ body: (inout LockWorld, TransactionID) -> Void) {
        let ids = open.keys.sorted { open[$0]! < open[$1]! }
        if let id = ids.randomElement(using: &random) { body(&self, id) }
    }

    private mutating func read(_ id: TransactionID) {
        var reading = LockedReading()
        if Bool.random(using: &random) {
            reading.documents = Array(Self.paths.shuffled(using: &random).prefix(2))
        } else {
            reading.query = Self.locked.randomElement(using: &random)
        }
        ask(.read(reading), id)
    }

    private mutating func write(_ id: TransactionID?) {
        let changes = Self.paths.shuffled(using: &random)
            .prefix(Int.random(in: 1...2, using: &random)).map { path in
                LockedChange(
                    path: path, before: Bool.random(using: &random) ? fields() : nil,
                    after: fields())
            }
        ask(.write(changes), id)
    }

    private mutating func fields() -> MapValue {
        ["n": .integer(Int64.random(in: 0..<10, using: &random))]
    }

    // MARK: The shell

    private mutating func ask(
        _ access: LockAccess, _ id: TransactionID?, again ticket: LockTicket? = nil
    ) {
        let claimant = id.map { LockClaimant.transaction($0, age: open[$0]!) } ?? .plain
        let decision = table.request(access, in: .test, by: claimant, again: ticket)
        for victim in table.takeVictims() {
            forget(victim.transaction)
            for ticket in victim.tickets { waiting[ticket] = nil }
        }
        switch decision {
        case .granted: grant(access, id)
        case .waits(let ticket): waiting[ticket] = Waiting(access: access, id: id)
        case .deadlock: if let id, open[id] != nil { complaint = "a victim lives" }
        case .full: complaint = "full"
        }
    }

    private mutating func grant(_ access: LockAccess, _ id: TransactionID?) {
        switch access {
        case .read(let reading):
            guard let id else { return }
            documents[id, default: []].formUnion(reading.documents)
            if let query = reading.query { queries[id, default: []].append(query) }
        case .write(let changes):
            for other in open.keys where other != id && touches(changes, other) {
                complaint = "a write was granted that another has locked"
            }
            // A commit ends its transaction.
            if let id { end(id) }
        }
    }

    private func touches(_ changes: [LockedChange], _ id: TransactionID) -> Bool {
        changes.contains { documents[id]?.contains($0.path) == true }
            || queries[id]?.contains { $0.isTouched(by: changes) } == true
    }

    private mutating func end(_ id: TransactionID) {
        table.end(id)
        for (ticket, entry) in waiting where entry.id == id { waiting[ticket] = nil }
        forget(id)
    }

    private mutating func forget(_ id: TransactionID) {
        open[id] = nil
        documents[id] = nil
        queries[id] = nil
    }

    /// Requests the locks of all ready waiters again.
    private mutating func settle() {
        for _ in 0..<1_000 {
            var tickets = table.takeReady(writes: true)
            if tickets.isEmpty { tickets = table.takeReady(writes: false) }
            if tickets.isEmpty { return }
            for ticket in tickets {
                // The request of an earlier ticket can end this ticket.
                if table.waiters[ticket] == nil { continue }
                guard let entry = waiting.removeValue(forKey: ticket) else {
                    complaint = "ready, but not waiting"
                    return
                }
                ask(entry.access, entry.id, again: ticket)
            }
        }
        complaint = "the same are ready again and again"
    }

    // MARK: What must hold

    private mutating func check() {
        if Set(table.waiters.keys) != Set(waiting.keys) { complaint = "a waiter was lost" }
        for (ticket, waiter) in table.waiters {
            if waiter.hard.isEmpty, waiter.soft.isEmpty { complaint = "one waits for nobody" }
            if waiter.hard.contains(where: { table.owners[$0] == nil }) {
                complaint = "one waits for a transaction that is gone"
            }
            if waiter.soft.contains(where: { table.waiters[$0] == nil || $0 >= ticket }) {
                complaint = "one waits for a waiter that is gone, or came later"
            }
            if case .write(let changes) = waiter.access {
                let holders = Set(
                    open.keys.filter {
                        waiter.agent != .transaction($0) && touches(changes, $0)
                    })
                if holders != waiter.hard { complaint = "its hard edges are wrong" }
            }
        }
        for ticket in table.waiters.keys where !reachesEnd(ticket) { complaint = "a circle" }
    }

    /// Returns false if a chain of waits from the ticket forms a circle.
    private func reachesEnd(_ ticket: LockTicket) -> Bool {
        var seen: Set<LockTicket> = []
        var path: Set<LockTicket> = []
        func visit(_ ticket: LockTicket) -> Bool {
            if path.contains(ticket) { return false }
            if !seen.insert(ticket).inserted { return true }
            path.insert(ticket)
            defer { path.remove(ticket) }
            guard let waiter = table.waiters[ticket] else { return true }
            for id in waiter.hard {
                for next in table.owners[id]?.waiting ?? [] where !visit(next) { return false }
            }
            for next in waiter.soft {
                let agent = table.waiters[next]?.agent
                if case .transaction(let id)? = agent {
                    for next in table.owners[id]?.waiting ?? [] where !visit(next) { return false }
                } else if !visit(next) {
                    return false
                }
            }
            return true
        }
        return visit(ticket)
    }
}
