import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

struct ViewTests {
    private func local(_ document: Document, mutated: Bool = false, committed: Bool = false)
        -> LocalDocument
    {
        var result = LocalDocument(StoredDocument(document, readTime: document.updateTime))
        result.hasLocalMutations = mutated
        result.hasCommittedMutations = committed
        return result
    }

    private func raised(_ effects: [View.Effect]) -> ViewSnapshot? {
        for case .raise(let snapshot, _) in effects { return snapshot }
        return nil
    }

    private func view(_ query: Query = rooms()) -> View {
        View.empty(query, in: Harness.database, synced: [])
    }

    private let current = TargetDelta(isCurrent: true)

    @Test func `the first step raises, even with nothing to show`() throws {
        var machine = view()
        let first = try #require(raised(machine.step(.result([], nil))))
        #expect(first.isFromCache && first.documents.isEmpty)
        #expect(machine.step(.documents([], nil)).isEmpty)
    }

    @Test func `rows that the current target does not hold are in limbo`() throws {
        var machine = view()
        _ = machine.step(.result([local(doc("rooms/a", 1)), local(doc("rooms/b", 1))], nil))
        var delta = current
        delta.added = [path("rooms/a")]
        let effects = machine.step(.documents([], .init(delta: delta), version: at(9)))
        #expect(effects == [.limbo(path("rooms/b"))], "still from the cache: nothing to tell")
        delta = current
        delta.added = [path("rooms/b")]
        let resolved = machine.step(.documents([], .init(delta: delta), version: at(10)))
        #expect(resolved.first == .outOfLimbo(path("rooms/b")))
        #expect(try #require(raised(resolved)).readTime == at(10))
    }

    @Test func `while a reset is pending nothing falls into limbo`() {
        var machine = view()
        _ = machine.step(.result([local(doc("rooms/a", 1))], nil))
        let effects = machine.step(
            .documents([], .init(delta: current, isPendingReset: true), version: at(9)))
        #expect(effects.isEmpty)
        // The answer of a call is stored before the server has sent the target again.
        _ = machine.step(.documents([local(doc("rooms/b", 1))], nil))
        #expect(machine.limbo.isEmpty)
        var delta = current
        delta.added = [path("rooms/a")]
        _ = machine.step(.documents([], .init(delta: delta), version: at(10)))
        #expect(machine.limbo == [path("rooms/b")])
    }

    @Test func `a pending write is never in limbo`() throws {
        var machine = view()
        _ = machine.step(.result([local(doc("rooms/a", 1), mutated: true)], nil))
        let effects = machine.step(.documents([], .init(delta: current), version: at(9)))
        #expect(try #require(raised(effects)).isFromCache == false)
        #expect(machine.limbo.isEmpty)
    }

    @Test func `an acknowledged write waits for the listen, and only then changes`() throws {
        var machine = view()
        let mine = local(doc("rooms/a", 1, ["n": .integer(1)]), mutated: true)
        _ = machine.step(.result([mine], nil))
        let acknowledged = local(doc("rooms/a", 5, ["n": .integer(2)]), committed: true)
        #expect(machine.step(.documents([acknowledged], nil)).isEmpty)
        #expect(machine.documents[0].document.fields == ["n": .integer(1)])
        let confirmed = local(doc("rooms/a", 5, ["n": .integer(2)]))
        let snapshot = try #require(raised(machine.step(.documents([confirmed], nil))))
        #expect(snapshot.summary == ["modified a"] && !snapshot.hasPendingWrites)
    }

    @Test func `offline, what was live is the cache's`() throws {
        var machine = view()
        _ = machine.step(.result([], .init(delta: current), version: at(1)))
        #expect(machine.isFresh)
        #expect(try #require(raised(machine.step(.wentOffline))).isFromCache)
        #expect(machine.step(.wentOffline).isEmpty)
    }

    @Test func `a refill is asked for before anything is changed`() {
        var query = rooms()
        query.limit = .first(1)
        var machine = view(query)
        _ = machine.step(.result([local(doc("rooms/a", 1))], nil))
        let before = machine
        #expect(
            machine.step(.documents([LocalDocument(unknown: path("rooms/a"))], nil))
                == [.needsRefill])
        #expect(machine == before)
    }

    /// If a full limit loses a row, another row moves up. Only the server knows which one.
    @Test func `a limited list is from the cache while a deleted row leaves a gap`() throws {
        for limit in [Query.Limit.first(2), .last(2)] {
            var query = rooms()
            query.limit = limit
            var machine = view(query)
            let (a, b, c) = (doc("rooms/a", 1), doc("rooms/b", 1), doc("rooms/c", 1))
            var delta = current
            delta.added = [a.path, b.path]
            _ = machine.step(.result([local(a), local(b)], nil))
            let told = machine.step(.documents([], .init(delta: delta), version: at(5)))
            #expect(try #require(raised(told)).isFromCache == false)
            #expect(
                machine.step(.documents([LocalDocument(unknown: a.path)], nil)) == [.needsRefill])
            let deleted = try #require(raised(machine.step(.result([local(b)], nil))))
            #expect(deleted.documents.map(\.path) == [b.path] && deleted.isFromCache)
            #expect(!machine.isFresh, "a read does not take it for the server's state")
            delta.added = [c.path]
            delta.removed = [a.path]
            let moved = machine.step(
                .documents([local(c)], .init(delta: delta), version: at(9)))
            #expect(try #require(raised(moved)).isFromCache == false)
            // If no further row exists, the target itself has fewer rows than the limit.
            _ = machine.step(.documents([LocalDocument(unknown: b.path)], nil))
            _ = machine.step(.result([local(c)], nil))
            delta.added = []
            delta.removed = [b.path]
            let short = machine.step(.documents([], .init(delta: delta), version: at(12)))
            #expect(try #require(raised(short)).isFromCache == false)
        }
    }

    /// The rows that the server named can differ from the rows that the view shows.
    @Test func `shows its target while its rows are just what the server named`() throws {
        var query = rooms()
        query.limit = .first(2)
        var machine = view(query)
        let (a, b, c) = (doc("rooms/a", 1), doc("rooms/b", 1), doc("rooms/c", 1))
        var delta = current
        delta.added = [a.path, b.path]
        _ = machine.step(.result([local(a), local(b)], nil))
        #expect(!machine.showsTarget, "the server has named none")
        let told = machine.step(.documents([], .init(delta: delta), version: at(5)))
        #expect(try #require(raised(told)).showsTarget)
        // Another read found that b was deleted and that c exists. The number of rows is the same,
        // but the rows differ.
        _ = machine.step(.result([local(a), local(c)], nil))
        #expect(machine.rows.count == 2 && !machine.showsTarget)
        _ = machine.step(.documents([local(c)], nil, awaiting: at(8)))
        #expect(!machine.showsTarget)
        delta.added = [c.path]
        delta.removed = [b.path]
        _ = machine.step(.documents([], .init(delta: delta), version: at(9)))
        #expect(machine.showsTarget)
        _ = machine.step(.wentOffline)
        #expect(!machine.showsTarget)
    }

    @Test func `many rows at once are where one by one would put them`() {
        let order = RowOrder(rooms())
        var dice = SeededRandom(seed: 7)
        for size in [9, 40, 300] {
            var together = DocumentSet(order)
            var single = DocumentSet(order)
            var names = (0..<2_000).map { "rooms/r\($0 * 7_919 % 2_003)" }.shuffled(using: &dice)
            while names.count >= size {
                let rows = names.suffix(size).map { name in
                    let document = doc(name, 1)
                    return ViewRow(ViewDocument(document), fields: document.fields, order: order)
                }
                names.removeLast(size)
                together.insert(contentsOf: rows)
                for row in rows { single.insert(row) }
                #expect(together == single)
            }
            for row in single.rows.prefix(50) { together.remove(row.path) }
            #expect(together.rows == Array(single.rows.dropFirst(50)))
        }
    }

    @Test func `a snapshot that is kept knows its rows and those before, whatever follows`() throws
    {
        var machine = view(rooms())
        let names = (10..<40).map { "rooms/r\($0)" }
        let first = try #require(
            raised(machine.step(.result(names.map { local(doc($0, 1)) }, nil))))
        #expect(first.oldDocuments.isEmpty && first.count == 30)
        let second = try #require(
            raised(
                machine.step(
                    .documents(
                        [
                            LocalDocument(unknown: path("rooms/r12")),
                            local(doc("rooms/r20", 2, ["n": .integer(2)])),
                            local(doc("rooms/r11a", 1)),
                        ], nil))))
        _ = machine.step(.documents([LocalDocument(unknown: path("rooms/r10"))], nil))
        #expect(first.documents.map(\.path.text) == names)
        #expect(second.oldDocuments == first.documents)
        #expect(
            second.documents.map(\.path.text).prefix(3) == ["rooms/r10", "rooms/r11", "rooms/r11a"])
        #expect(second.changes.map(\.kind) == [.removed, .added, .modified])
    }

    /// A small set of changes is a list. A larger set uses a dictionary.
    @Test func `changes of many documents merge as those of one`() {
        let order = RowOrder(rooms())
        let rows = (0..<9).map { number in
            let document = doc("rooms/r\(number)", 1)
            return ViewRow(ViewDocument(document), fields: document.fields, order: order)
        }
        func ids(_ set: ChangeSet) -> [String] {
            set.sorted(order).map { "\($0.kind) \($0.document.path.id)" }
        }
        var set = ChangeSet()
        for row in rows { set.add(.added, row, from: nil) }
        for row in [rows[2]] + rows[5...] { set.add(.removed, row, from: row) }
        set.add(.modified, rows[1], from: rows[1])
        #expect(ids(set) == ["added r0", "added r1", "added r3", "added r4"])
        for row in rows.reversed() {
            #expect(set.addNew(row) == ![0, 1, 3, 4].contains { rows[$0] === row })
        }
        set.add(.removed, rows[8], from: rows[8])
        #expect(ids(set) == (0..<8).map { "added r\($0)" })
    }

    @Test func `changes of one document merge`() {
        let document = doc("rooms/a", 1)
        let order = RowOrder(rooms())
        let row = ViewRow(ViewDocument(document), fields: document.fields, order: order)
        func merged(_ kinds: ViewChange.Kind...) -> ViewChange.Kind? {
            var set = ChangeSet()
            for kind in kinds { set.add(kind, row, from: kind == .added ? nil : row) }
            return set.sorted(order).first?.kind
        }
        #expect(merged(.added, .modified) == .added)
        #expect(merged(.added, .removed) == nil)
        #expect(merged(.removed, .added) == .modified)
        #expect(merged(.modified, .removed) == .removed)
        #expect(merged(.modified, .metadata) == .modified)
        #expect(merged(.metadata, .modified) == .modified)
        #expect(merged(.metadata, .metadata) == .metadata)
    }
}
