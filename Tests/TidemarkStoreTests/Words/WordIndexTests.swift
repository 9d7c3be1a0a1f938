import Foundation
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkStore

/// Compares searches by word indexes with a naive search, for random documents and changes.
@Suite(.ownThread) struct `Word indexes` {
    struct Wrong: Error { let terms: [SearchTerm] }

    private let folder = TemporaryFolder()

    /// The fields of each collection id in turn.
    private static let choices = [["text"], ["title", "tags"], ["text", "title", "tags"]]

    private final class Play {
        var dice: Dice
        var store: DocumentStore
        var oracle = WordOracle()
        var fields: [String: [String]] = [:]
        let path: String

        init(seed: UInt64, _ path: String) throws {
            dice = Dice(seed: seed)
            self.path = path
            store = try DocumentStore(.file(path), indexBuilding: .onRequest)
        }

        var definitions: [WordIndexDefinition] {
            fields.sorted { $0.key < $1.key }.map { id, fields in
                WordIndexDefinition(
                    collectionID: id, fields: fields.map { try! FieldPath(encoded: $0) })
            }
        }

        func declare() throws {
            for id in ["m", "n"] where dice.chance(60) { fields[id] = dice.pick(choices) }
            if dice.chance(20) { fields["n"] = nil }
            try store.write { try $0.documents(of: testDatabase).setWordIndexes(definitions) }
        }

        func change() throws {
            let path = dice.place()
            let kind = dice.roll(10)
            let fields = dice.texts()
            try store.write { transaction in
                let table = transaction.documents(of: testDatabase)
                switch kind {
                case 0, 1: try table.remove(path)
                case 2: try table.put(missing(path.text))
                case 3:
                    var entries = NewEntries()
                    if try table.insert(ifNew: found(path.text, fields), &entries) == nil {
                        try table.put(found(path.text, fields))
                    }
                    try table.write(&entries)
                case 4:
                    if let row = try table.row(at: path), row.document.kind == .found {
                        let old = (row: row, fields: row.document.contents.decoded)
                        try table.put(found(path.text, fields), fields, replacing: old)
                    } else {
                        try table.put(found(path.text, fields))
                    }
                case 5:
                    let held = try table.version(at: path)
                    _ = try table.put(found(path.text, fields), inPlaceOf: held)
                default: try table.put(found(path.text, fields))
                }
            }
            if kind <= 2 { oracle.remove(path) } else { oracle.put(path, fields) }
        }

        /// A transaction that fails leaves no words.
        func fail() throws {
            let (path, fields) = (dice.place(), dice.texts())
            #expect(throws: CancellationError.self) {
                try store.write { transaction in
                    let table = transaction.documents(of: testDatabase)
                    try table.put(found(path.text, fields))
                    if dice.chance(30) { try table.removeAll() }
                    throw CancellationError()
                }
            }
        }

        func restart() throws {
            try store.close()
            store = try DocumentStore(.file(path), indexBuilding: .onRequest)
        }

        /// Searches in slices, with changes between them.
        ///
        /// - Returns: True if an index was ready.
        func search(changing: Bool = false) throws -> Bool {
            let (query, terms) = (dice.searchQuery(), dice.terms())
            guard
                let definition = definitions.first(where: { $0.collectionID == query.collectionID })
            else { return false }
            let begun = try store.read {
                try $0.documents(of: testDatabase).scan(for: terms, in: query, by: definition)
            }
            guard let scan = begun else { return false }
            var rows: Set<DocumentPath> = []
            while true {
                let budget = ScanBudget(rows: 1 + dice.roll(6))
                let isAtEnd = try store.read {
                    try $0.documents(of: testDatabase).step(scan, budget: budget) {
                        rows.insert($0.path)
                    }
                }
                if isAtEnd { break }
                if scan.isLost { return false }
                if changing { try change() }
            }
            let fields = definition.fields.map(\.encoded)
            let wanted = oracle.search(terms, in: query, fields: fields)
            let found = rows.subtracting(scan.touched)
                .union(wanted.intersection(scan.touched))
            if found != wanted { throw Wrong(terms: terms) }
            return true
        }

        private var choices: [[String]] { `Word indexes`.choices }
    }

    private func play(seed: UInt64, rounds: Int = 40) throws -> Int {
        let play = try Play(seed: seed, folder.path("\(UUID().uuidString).sqlite"))
        var searches = 0
        for _ in 0..<rounds {
            if play.dice.chance(15) || play.fields.isEmpty { try play.declare() }
            for _ in 0..<play.dice.roll(25) { try play.change() }
            if play.dice.chance(20) { try play.fail() }
            if play.dice.chance(10) { try play.restart() }
            if play.dice.chance(3) {
                try play.store.write { try $0.documents(of: testDatabase).removeAll() }
                play.oracle.removeAll()
            }
            _ = try play.store.buildWantedIndexes(slice: 1 + play.dice.roll(600))
            for _ in 0..<8 where try play.search(changing: play.dice.chance(30)) { searches += 1 }
        }
        return searches
    }

    @Test func `find what a search of all documents finds`() throws {
        var searches = 0
        for seed in UInt64(0)..<20 { searches += try play(seed: seed) }
        #expect(searches > 2_000, "\(searches)")
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: WordDefect.allCases)
        func `with a planted defect find something else`(_ defect: WordDefect) throws {
            #expect(throws: Wrong.self) {
                try WordDefect.$planted.withValue(defect) {
                    for seed in UInt64(0)..<20 { _ = try play(seed: seed) }
                }
            }
        }
    #endif

    @Test func `are filled in slices, beside changes, and after a restart`() throws {
        let path = folder.path("filled.sqlite")
        var store = try DocumentStore(.file(path), indexBuilding: .onRequest)
        let words = WordIndexDefinition(collectionID: "m", fields: [try FieldPath(encoded: "text")])
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            for n in 0..<500 {
                try table.put(found("m/d\(n)", ["text": .string("one two \(n)")]))
                try table.put(found("other/d\(n)", ["text": .string("one two \(n)")]))
            }
            try table.setWordIndexes([words])
        }
        var slices = 0
        while try store.buildWantedIndexes(slice: 1_000) {
            slices += 1
            if slices == 2 {
                try store.close()
                store = try DocumentStore(.file(path), indexBuilding: .onRequest)
            }
        }
        #expect(slices > 3)
        let states = try store.read { try $0.documents(of: testDatabase).wordIndexes() }
        #expect(states == [WordIndexState(definition: words, isReady: true)])
        #expect(try rows(store, "one", words) == 500)
        #expect(try rows(store, "123", words) == 1)
        // A search of one collection leaves out the documents of the others.
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            try table.put(found("r/1/m/x", ["text": .string("one")]))
            try table.put(found("r/2/m/x", ["text": .string("one")]))
        }
        #expect(try rows(store, "one", words) == 500)
        let room = Query(parent: DocumentPath(unchecked: "r/1"), collectionID: "m")
        #expect(try rows(store, "one", words, in: room) == 1)
        #expect(
            try rows(store, "one", words, in: Query(collectionID: "m", allDescendants: true)) == 502
        )
        try store.write { try $0.documents(of: testDatabase).setWordIndexes([]) }
        #expect(try rows(store, "one", words) == nil)
        try store.close()
    }

    private func rows(
        _ store: DocumentStore, _ word: String, _ words: WordIndexDefinition,
        in query: Query = Query(collectionID: "m")
    ) throws -> Int? {
        try store.read { transaction in
            let table = transaction.documents(of: testDatabase)
            let begun = try table.scan(for: [SearchTerm(word)], in: query, by: words)
            guard let scan = begun else { return nil }
            var count = 0
            #expect(try table.step(scan, budget: ScanBudget(rows: .max)) { _ in count += 1 })
            return count
        }
    }

    @Test func `cut long words, and then find a few others too`() throws {
        let store = try DocumentStore(.memory, indexBuilding: .onRequest)
        let words = WordIndexDefinition(collectionID: "m", fields: [try FieldPath(encoded: "text")])
        let long = String(repeating: "é", count: 40)
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            try table.setWordIndexes([words])
            try table.put(found("m/a", ["text": .string(String(repeating: "x", count: 100) + "a")]))
            try table.put(found("m/b", ["text": .string(String(repeating: "x", count: 100) + "b")]))
            try table.put(found("m/c", ["text": .string(String(repeating: "ж", count: 40))]))
            try table.put(found("m/d", ["text": .string(long)]))
        }
        while try store.buildWantedIndexes() {}
        #expect(try rows(store, String(repeating: "x", count: 100) + "a", words) == 2)
        #expect(try rows(store, String(repeating: "x", count: 63), words) == 0)
        #expect(try rows(store, String(repeating: "ж", count: 40), words) == 1)
        #expect(try rows(store, SearchWords.words(of: long)[0], words) == 1)
    }

    @Test func `need full-text search, and say so without it`() throws {
        let store = try DocumentStore(.memory)
        try store.write { transaction in
            let table = transaction.documents(of: testDatabase)
            let words = DeclaredWords(table: table)
            let error = #expect(throws: StoreError.noFullText) {
                try words.makeTable(by: "fts_of_tomorrow")
            }
            #expect(error?.message.contains("FTS5") == true)
            #expect(throws: Never.self) { try words.makeTable() }
        }
    }
}
