import Foundation
import Testing
import TidemarkModel

@testable import TidemarkStore

/// Damages the file or the log of a store, while the store is closed or open: flipped bits, random
/// bytes, pages of zeros, and swapped pages. The store reports each damage, or reads the data that
/// was written.
struct DamagedStoreTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let room = FieldPath(name: "n")
    private static let documents = 90
    private static let transactions = 6
    /// The number of damages of the file, and of the log. The number grows with the number of
    /// seeds.
    private static let damages = max(UInt64(500), DiskSeeds.all.upperBound)

    fileprivate typealias Rows = [Int: EncodedFields]

    /// The rows of a store after each transaction, and the files after the last.
    private struct Written {
        var states: [Rows] = [[:]]
        var file = Data()
        var log = Data()
    }

    private static func path(_ number: Int) -> DocumentPath {
        DocumentPath(unchecked: "rooms/r\(number + 100)")
    }

    private static func fields(_ number: Int, _ round: Int) -> EncodedFields {
        let length = [10, 300, 3_000, 14_000][number % 4]
        return EncodedFields([
            "n": .integer(Int64(number * 100 + round)),
            "text": .bytes([UInt8](repeating: UInt8(number), count: length)),
        ])
    }

    /// - Parameter moves: Returns true if the log moves into the file after a transaction.
    private static func fill(
        _ store: DocumentStore, moves: (Int) -> Bool
    ) throws -> [Rows] {
        var states: [Rows] = [[:]]
        for round in 1...transactions {
            var rows = states.last!
            try store.write(.disk) { transaction in
                let table = transaction.documents(of: database)
                if round == 1 {
                    try table.declareIndex(
                        IndexDefinition(collectionID: "rooms", fields: [.init(room)]))
                }
                for number in 0..<documents where round == 1 || (number + round) % 3 == 0 {
                    rows[number] = fields(number, round)
                    let time = Timestamp(microseconds: Int64(round))
                    try table.put(
                        StoredDocument(
                            path: path(number), kind: .found, contents: rows[number]!,
                            createTime: time, updateTime: time, readTime: time))
                }
            }
            states.append(rows)
            if moves(round) { store.moveLog() }
        }
        return states
    }

    private static let allWritten = Dictionary(
        uniqueKeysWithValues: AtRest.allCases.map { atRest in
            (atRest, Result { try write(atRest) })
        })

    /// Writes half of the transactions to the file, and half to the log, as after a kill.
    private static func write(_ atRest: AtRest) throws -> Written {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("store.sqlite")
        let store = try DocumentStore(.file(path), key: atRest.key)
        var written = Written()
        written.states = try fill(store) { $0 == transactions / 2 }
        let copy = try StoreCopy(of: path)
        written.file = try Data(contentsOf: URL(fileURLWithPath: copy.path))
        written.log = try Data(contentsOf: URL(fileURLWithPath: copy.path + "-wal"))
        return written
    }

    /// Reads each document by name, and all documents by the index.
    private static func read(_ store: DocumentStore) throws -> Rows {
        var rows: Rows = [:]
        try store.read { transaction in
            let table = transaction.documents(of: database)
            for number in 0..<documents {
                rows[number] = try table.document(at: path(number))?.contents
            }
            let query = Query(collectionID: "rooms", orders: [Order(room)])
            let found = try table.run(query).documents
            let sorted = rows.keys.sorted()
            guard found.map(\.path) == sorted.map(path),
                found.map(\.contents) == sorted.map({ rows[$0]! })
            else { throw DiskViolation("the index shows something else") }
        }
        return rows
    }

    fileprivate struct Tally {
        var (found, harmless) = (0, 0)
        var shown: [String] = []

        mutating func count(_ name: String, _ look: () throws -> Bool) {
            do {
                if try look() { harmless += 1 } else { shown.append(name) }
            } catch let error as DiskViolation {
                shown.append("\(name): \(error)")
            } catch StoreError.wrongKey, StoreError.keyMissing, StoreError.notEncrypted {
                shown.append("\(name): damage is taken for another key")
            } catch { found += 1 }
        }
    }
}

// MARK: - Damages

extension DamagedStoreTests {
    private static let page = 4_096

    private static func damage(
        _ bytes: inout Data, _ dice: inout Dice, _ atRest: AtRest, isLog: Bool
    ) {
        if atRest == .encrypted, dice.chance(20) { return damageSealed(&bytes, &dice, isLog) }
        let pages = bytes.count / page
        let start = dice.roll(pages) * page
        switch dice.roll(6) {
        case 0, 1: bytes[dice.roll(bytes.count)] ^= 1 << UInt8(dice.roll(8))
        case 2:
            for _ in 0..<(2 + dice.roll(6)) {
                bytes[start + dice.roll(page)] ^= 1 << UInt8(dice.roll(8))
            }
        case 3:
            let place = dice.roll(bytes.count)
            for place in place..<min(bytes.count, place + 1 + dice.roll(600)) {
                bytes[place] = UInt8(dice.roll(256))
            }
        case 4: bytes.resetBytes(in: start..<start + page)
        default:
            let other = dice.roll(pages) * page
            let kept = bytes[start..<start + page]
            bytes.replaceSubrange(start..<start + page, with: bytes[other..<other + page])
            bytes.replaceSubrange(other..<other + page, with: kept)
        }
    }

    /// Makes a damage that only an encrypted file always detects: the end is cut off, or two frames
    /// of the log are swapped with their headers.
    private static func damageSealed(_ bytes: inout Data, _ dice: inout Dice, _ isLog: Bool) {
        let frames = (bytes.count - SealedFrames.logHeader) / SealedFrames.size
        guard isLog, dice.chance(50), frames > 1 else {
            return bytes.removeSubrange(dice.roll(bytes.count)...)
        }
        let places = [dice.roll(frames), dice.roll(frames)].map {
            SealedFrames.logHeader + $0 * SealedFrames.size
        }.map { $0..<$0 + SealedFrames.size }
        let kept = places.map { bytes[$0] }
        bytes.replaceSubrange(places[0], with: kept[1])
        bytes.replaceSubrange(places[1], with: kept[0])
    }

    /// Damages the files before a store opens them.
    private func reopened(
        _ seed: UInt64, _ atRest: AtRest, isLog: Bool, _ tally: inout Tally
    ) throws {
        let written = try Self.allWritten[atRest]!.get()
        var dice = Dice(seed: seed)
        let disk = try LossyDisk(seed: seed)
        let path = disk.path("store.sqlite")
        var (file, log) = (written.file, written.log)
        if isLog {
            Self.damage(&log, &dice, atRest, isLog: true)
        } else {
            Self.damage(&file, &dice, atRest, isLog: false)
        }
        try file.write(to: URL(fileURLWithPath: path))
        try log.write(to: URL(fileURLWithPath: path + "-wal"))
        tally.count("seed \(seed)") {
            let rows = try Self.read(try DocumentStore(.file(path), key: atRest.key))
            // SQLite ends a log at its damage, as after a loss of power.
            return isLog ? written.states.contains(rows) : rows == written.states.last
        }
    }

    /// Damages the files while a store has them open.
    private func beneath(
        _ seed: UInt64, _ atRest: AtRest, isLog: Bool, _ tally: inout Tally
    ) throws {
        var dice = Dice(seed: seed)
        let disk = try LossyDisk(seed: seed)
        let path = disk.path("store.sqlite")
        let store = try DocumentStore(
            .file(path), tuning: DocumentStore.Tuning(cacheKibibytes: 40), key: atRest.key)
        let states = try Self.fill(store) { !isLog && $0 >= Self.transactions / 2 }
        let victim = try FileHandle(
            forUpdating: URL(fileURLWithPath: isLog ? path + "-wal" : path))
        var bytes = try victim.readToEnd() ?? Data()
        Self.damage(&bytes, &dice, atRest, isLog: isLog)
        try victim.truncate(atOffset: UInt64(bytes.count))
        try victim.seek(toOffset: 0)
        try victim.write(contentsOf: bytes)
        tally.count("seed \(seed), open") {
            let isRight = try Self.read(store) == states.last
            store.moveLog()
            return try isRight && Self.read(store) == states.last
        }
    }

    private func play(
        _ seeds: Range<UInt64>, _ atRest: AtRest, isLog: Bool
    ) throws -> Tally {
        var tally = Tally()
        for seed in seeds {
            if seed.isMultiple(of: 3) {
                try beneath(seed, atRest, isLog: isLog, &tally)
            } else {
                try reopened(seed, atRest, isLog: isLog, &tally)
            }
        }
        return tally
    }

    @Test(arguments: [false, true], AtRest.allCases)
    func `damage of file and log is found or harmless`(isLog: Bool, atRest: AtRest) throws {
        let tally = try play(0..<Self.damages, atRest, isLog: isLog)
        #expect(tally.shown.isEmpty, "\(tally.shown.count): \(tally.shown.prefix(5))")
        #expect(tally.found + tally.harmless == Int(Self.damages))
        // SQLite ends a damaged log at the damage. After a kill it does not read the rest, so much
        // of the damage is harmless.
        #expect(tally.found > Int(Self.damages) / (isLog ? 10 : 3), "found \(tally.found)")
        #expect(tally.harmless > 0)
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [false, true], AtRest.allCases)
        func `a store that trusts its pages is found`(isLog: Bool, atRest: AtRest) throws {
            let tally = try StoreLayer.$trustsPages.withValue(true) {
                try play(0..<150, atRest, isLog: isLog)
            }
            #expect(tally.shown.count > 5, "shown \(tally.shown.count) of 150")
        }
    #endif
}

// MARK: - Files from before

extension DamagedStoreTests {
    @Test func `every page of a new file has its checksum`() throws {
        let file = try Self.allWritten[.plain]!.get().file
        #expect(file[20] == UInt8(PageChecksum.size))
        for start in stride(from: 0, to: file.count, by: Self.page) {
            let page = [UInt8](file[start..<start + Self.page])
            let sum = page.withUnsafeBytes {
                PageChecksum.of(
                    UnsafeRawBufferPointer(rebasing: $0.dropLast(PageChecksum.size)),
                    number: UInt64(start / Self.page))
            }
            #expect(
                page.suffix(PageChecksum.size)
                    == withUnsafeBytes(of: sum.littleEndian, Array.init)[...])
        }
    }
}
