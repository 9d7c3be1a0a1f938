import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkTesting

// The code of the article about UIKit, line by line, on a table with UIKit's rules. The view
// controllers of `Examples/Homes/UIKit` have the same lines; the tidy tests compare both.

private struct Member: Codable, Sendable {
    var name: String
    var joinedAt: Timestamp
}

extension IndexPath {
    fileprivate init(row: Int, section: Int) { self.init(indexes: [section, row]) }
    fileprivate var row: Int { self[1] }
}

/// A table with the rules of UIKit for a batch: removed rows and the origins of moves count in the
/// old list, inserted rows and the targets of moves count in the new list. UIKit ends an app that
/// breaks a rule.
///
/// A cell gets its text when its row is inserted or reconfigured, so a forgotten row shows an old
/// text.
@MainActor private final class UITableView {
    enum RowAnimation { case automatic }
    enum ScrollPosition { case top }

    private struct Batch {
        var removed: [Int] = []
        var inserted: [Int] = []
        var moved: [(from: Int, to: Int)] = []
    }

    /// The texts of the cells, from the first row to the last.
    private(set) var cells: [String] = []
    private(set) var moves = 0
    private(set) var reconfigured = 0
    /// The rows on the screen; the user has scrolled to the first one.
    var indexPathsForVisibleRows: [IndexPath]?
    private var batch: Batch?
    /// The data source: the number of rows, and the text of a row.
    private let count: () -> Int
    private let text: (Int) -> String

    init(count: @escaping () -> Int, text: @escaping (Int) -> String) {
        self.count = count
        self.text = text
    }

    func performBatchUpdates(_ updates: () -> Void) {
        #expect(batch == nil && count() == cells.count, "the rows change only inside of a batch")
        batch = Batch()
        updates()
        guard let done = batch.take() else { return }
        let gone = Set(done.removed + done.moved.map(\.from))
        let filled = Set(done.inserted + done.moved.map(\.to))
        #expect(gone.count == done.removed.count + done.moved.count, "a row goes once")
        #expect(filled.count == done.inserted.count + done.moved.count, "a row comes once")
        #expect(gone.isSubset(of: cells.indices) && filled.isSubset(of: 0..<count()))
        #expect(count() == cells.count - done.removed.count + done.inserted.count)
        var rest = cells.indices.filter { !gone.contains($0) }.map { cells[$0] }[...]
        let old = cells
        cells = (0..<count()).map { row in
            if let move = done.moved.first(where: { $0.to == row }) { return old[move.from] }
            return done.inserted.contains(row) ? text(row) : rest.popFirst() ?? "no cell"
        }
        #expect(rest.isEmpty)
        moves += done.moved.count
    }

    func deleteRows(at paths: [IndexPath], with animation: RowAnimation) {
        batch?.removed += paths.map(\.row)
    }

    func insertRows(at paths: [IndexPath], with animation: RowAnimation) {
        batch?.inserted += paths.map(\.row)
    }

    func moveRow(at path: IndexPath, to target: IndexPath) {
        batch?.moved.append((path.row, target.row))
    }

    func reconfigureRows(at paths: [IndexPath]) {
        #expect(batch == nil)
        for path in paths { cells[path.row] = text(path.row) }
        reconfigured += paths.count
    }

    func scrollToRow(at path: IndexPath, at position: ScrollPosition, animated: Bool) {
        #expect(batch == nil && cells.indices.contains(path.row), "there is no such row")
        indexPathsForVisibleRows = (path.row..<cells.count).map { IndexPath(row: $0, section: 0) }
    }
}

/// The part of `MembersController` that needs no screen.
@MainActor private final class MembersTable {
    private let members: TypedFeed<Member>
    private var items: [TypedItem<Member>] = []
    private var watching: Task<Void, Never>?
    private var wanted: String?
    private(set) var phase = FeedPhase.loading
    private(set) lazy var tableView = UITableView { [unowned self] in
        items.count
    } text: { [unowned self] row in
        items[row].value.name
    }

    init(_ members: TypedFeed<Member>) { self.members = members }

    deinit { watching?.cancel() }

    func viewDidLoad() {
        let diffs = members.diffs
        watching = Task { [weak self] in
            for await diff in diffs { self?.show(diff) }
        }
    }

    /// Returns the text of the position that the controller keeps as it disappears.
    func viewWillDisappear() -> String? {
        let top = tableView.indexPathsForVisibleRows?.first
        let position = top.map { items[$0.row].position }
        return position?.rawValue
    }

    func showPosition(_ text: String?) {
        guard let position = text.flatMap(ListPosition.init) else { return }
        Task { [members, weak self] in
            self?.wanted = try? await members.feed.loadMore(to: position)
            self?.scroll()
        }
    }

    private func scroll() {
        guard let row = items.firstIndex(where: { $0.id == wanted }) else { return }
        wanted = nil
        tableView.scrollToRow(at: Self.path(row), at: .top, animated: false)
    }

    private func show(_ diff: FeedDiff<Member>) {
        tableView.performBatchUpdates { [self] in
            items = diff.state.items
            tableView.deleteRows(at: Self.paths(diff.removed), with: .automatic)
            tableView.insertRows(at: Self.paths(diff.inserted), with: .automatic)
            for move in diff.moved {
                tableView.moveRow(at: Self.path(move.from), to: Self.path(move.to))
            }
        }
        tableView.reconfigureRows(at: Self.paths(diff.updated))
        show(diff.state.phase)
        scroll()
    }

    private func show(_ phase: FeedPhase) { self.phase = phase }

    private static func path(_ row: Int) -> IndexPath { IndexPath(row: row, section: 0) }
    private static func paths(_ rows: [Int]) -> [IndexPath] { rows.map(path) }
}

/// The members of a home as a test knows them, and the client that changes them.
private struct Home {
    private let members: CollectionReference
    private var random: SeededRandom
    private var known: [String: Member] = [:]
    private var made = 0

    init(_ author: Firestore, seed: UInt64) {
        members = author.collection("homes/h/members")
        random = SeededRandom(seed: seed)
    }

    /// The names of the members, the last one who has joined first.
    var names: [String] { known.values.sorted { $0.joinedAt > $1.joinedAt }.map(\.name) }

    /// Commits up to eight changes at once: members who come, go, get another name, or another
    /// time, which moves their row.
    mutating func change() async throws {
        let batch = members.firestore.batch()
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            made += 1
            let present = known.keys.sorted().randomElement(using: &random)
            switch (Int.random(in: 0..<5, using: &random), present) {
            case (0, let id?):
                known[id] = nil
                batch.updateData(
                    [
                        "deletedAt": FieldValue.serverTimestamp(),
                        "updatedAt": FieldValue.serverTimestamp(),
                    ], forDocument: members.document(id))
            case (1, let id?):
                known[id]?.name = "name \(made)"
                try set(id, batch)
            case (2, let id?):
                let joinedAt = time()
                known[id]?.joinedAt = joinedAt
                try set(id, batch)
            default:
                let member = Member(name: "name \(made)", joinedAt: time())
                known["m\(made)"] = member
                try set("m\(made)", batch)
            }
        }
        try await batch.commit()
    }

    /// Returns a time that no other member has.
    private mutating func time() -> Timestamp {
        let seconds = Int64.random(in: 0..<1_000, using: &random) * 10_000 + Int64(made)
        return Timestamp(seconds: 1_700_000_000 + seconds, nanoseconds: 0)
    }

    private func set(_ id: String, _ batch: WriteBatch) throws {
        guard let member = known[id] else { return }
        batch.setData(
            [
                "name": member.name, "joinedAt": member.joinedAt,
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: members.document(id))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A table of UIKit` {
    @Test(arguments: UInt64(0)..<8)
    func `shows the rows of a feed after any difference`(seed: UInt64) async throws {
        try await LocalFirestore.start().whileRunning { local in
            var home = Home(try local.firestore(label: "author"), seed: seed)
            try await home.change()
            let device = try local.firestore(label: "device")
            let members = try TypedFeed(
                of: Member.self,
                FeedDefinition(
                    query: device.collection("homes/h/members"), itemTime: "joinedAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            let table = await MembersTable(members)
            await table.viewDidLoad()
            try await members.start()
            for round in 0..<25 {
                let names = home.names
                try await until("round \(round) of seed \(seed)") {
                    await table.tableView.cells == names
                }
                try await home.change()
            }
            let names = home.names
            try await until { await table.tableView.cells == names }
            try await until { if case .fresh = await table.phase { true } else { false } }
            #expect(await table.tableView.moves > 0)
            #expect(await table.tableView.reconfigured > 0)
            await members.feed.stopListening()
        }
    }

    @Test func `opens at the row at which the user has left it`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            let batch = author.batch()
            for number in 0..<200 {
                batch.setData(
                    [
                        "name": "name \(number)",
                        "joinedAt": Timestamp(seconds: Int64(number), nanoseconds: 0),
                        "updatedAt": FieldValue.serverTimestamp(),
                    ], forDocument: author.document("homes/h/members/m\(number)"))
            }
            try await batch.commit()
            let device = try local.firestore(label: "device")
            let definition = FeedDefinition(
                query: device.collection("homes/h/members"), itemTime: "joinedAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt"))
            let first = try TypedFeed(of: Member.self, definition)
            let left = await MembersTable(first)
            await left.viewDidLoad()
            try await first.start()
            try await first.feed.loadMore(100)
            try await until { await left.tableView.cells.count == 150 }
            await MainActor.run {
                left.tableView.indexPathsForVisibleRows = [IndexPath(row: 120, section: 0)]
            }
            let text = await left.viewWillDisappear()
            await first.feed.stopListening()

            let next = try TypedFeed(of: Member.self, definition)
            let table = await MembersTable(next)
            await table.viewDidLoad()
            await table.showPosition(text)
            try await until { await table.tableView.indexPathsForVisibleRows != nil }
            let top = await table.tableView.indexPathsForVisibleRows?.first?.row
            let row = try #require(top)
            #expect(await table.tableView.cells[row] == "name 79")
        }
    }
}
