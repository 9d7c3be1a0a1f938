import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// Word indexes after kills and losses of power, and what their file shows.
struct `Word indexes at rest` {
    private struct Wrong: Error { let word: String }

    private static let database = try! DatabaseID(project: "disk")
    private static let all = Query(collectionID: "notes")
    private static let index = WordIndexDefinition(
        collectionID: "notes", fields: [FieldPath(name: "text")])

    private static func path(_ number: Int) -> DocumentPath {
        DocumentPath(unchecked: "notes/d\(number)")
    }

    private static func note(_ number: Int, _ text: String) -> StoredDocument {
        StoredDocument(
            path: path(number), kind: .found,
            contents: EncodedFields(["text": .string(text)]), createTime: .epoch,
            updateTime: .epoch, readTime: .epoch)
    }

    private static func open(_ disk: LossyDisk, _ atRest: AtRest) throws -> DocumentStore {
        try DocumentStore(
            .file(disk.path("store.sqlite")), indexBuilding: .onRequest, key: atRest.key)
    }

    /// Compares each word's documents with the texts in the store.
    ///
    /// - Returns: True if the index is ready.
    private static func check(_ store: DocumentStore) throws -> Bool {
        try store.read { transaction in
            let table = transaction.documents(of: database)
            guard try table.wordIndexes().first?.isReady == true else { return false }
            let rows = try table.run(all).documents
            for word in ["ant", "bee", "cat", "dog"] {
                var found: Set<DocumentPath> = []
                let scan = try table.scan(for: [SearchTerm(word)], in: all, by: index)!
                _ = try table.step(scan, budget: ScanBudget(rows: .max)) { found.insert($0.path) }
                let wanted = rows.filter { row in
                    guard case .string(let text)? = row.contents.decoded["text"] else {
                        return false
                    }
                    return text.split(separator: " ").contains { $0 == word }
                }
                if found != Set(wanted.map(\.path)) { throw Wrong(word: word) }
            }
            return true
        }
    }

    private static func play(_ seed: UInt64, _ atRest: AtRest) throws -> Int {
        let disk = try LossyDisk(seed: seed)
        var dice = Dice(seed: seed)
        var checks = 0
        try LossyDisk.mounted {
            let first = try open(disk, atRest)
            try first.write { transaction in
                let table = transaction.documents(of: database)
                for number in 0..<30 { try table.put(note(number, "ant bee")) }
                try table.setWordIndexes([index])
            }
            try first.close()
            for round in 0..<6 {
                let store = try open(disk, atRest)
                disk.fail(after: dice.roll(120))
                for _ in 0..<30 { if !change(store, &dice) { break } }
                let isKilled = round % 2 == 0
                disk.fail(after: 0)
                try? store.close()
                if isKilled { disk.restartAfterKill() } else { try disk.restartAfterPowerLoss() }
                let after = try open(disk, atRest)
                if try check(after) { checks += 1 }
                while try after.buildWantedIndexes() {}
                if try check(after) { checks += 1 }
                try after.close()
            }
        }
        return checks
    }

    /// - Returns: True if the disk still works.
    private static func change(_ store: DocumentStore, _ dice: inout Dice) -> Bool {
        do {
            try store.write(dice.chance(30) ? .disk : .process) { transaction in
                let table = transaction.documents(of: database)
                for _ in 0...dice.roll(4) {
                    let number = dice.roll(60)
                    if dice.chance(25) {
                        try table.remove(path(number))
                    } else {
                        let words = (0...dice.roll(3)).map { _ in
                            dice.pick(["ant", "bee", "cat", "dog"])
                        }
                        try table.put(note(number, words.joined(separator: " ")))
                    }
                }
            }
            if dice.chance(40) { _ = try store.buildWantedIndexes(slice: 60) }
            return true
        } catch { return false }
    }

    @Test(arguments: AtRest.allCases)
    func `agree with the documents after kills and losses of power`(atRest: AtRest) throws {
        var checks = 0
        for seed in UInt64(0)..<40 {
            do { checks += try Self.play(seed, atRest) } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        #expect(checks > 250, "\(checks)")
    }

    /// The control proves that the plain file has the word outside of its document.
    @Test(arguments: AtRest.allCases)
    func `show their words in a plain file alone`(atRest: AtRest) throws {
        let disk = try LossyDisk(seed: 1)
        try LossyDisk.mounted {
            let store = try Self.open(disk, atRest)
            try store.write { transaction in
                let table = transaction.documents(of: Self.database)
                try table.setWordIndexes([Self.index])
                try table.put(Self.note(1, "QUETZALCOATLUS"))
            }
            while try store.buildWantedIndexes() {}
            try store.write {
                try $0.documents(of: Self.database).put(Self.note(2, "ARCHAEOPTERYX"))
            }
            let bytes = try ["", "-wal"].reduce(into: Data()) { all, suffix in
                all += try Data(
                    contentsOf: URL(fileURLWithPath: disk.path("store.sqlite" + suffix)))
            }
            for word in ["quetzalcoatlus", "archaeopteryx"] {
                let isThere = bytes.range(of: Data(word.utf8)) != nil
                #expect(isThere == (atRest == .plain), "\(word)")
            }
            try store.close()
        }
    }
}
