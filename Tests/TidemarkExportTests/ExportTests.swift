import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkServer

@testable import TidemarkExport

@Suite(.ownThread) struct ExportTests {
    private let folder: TestFolder
    private let world: ExportWorld

    init() throws {
        folder = try TestFolder()
        world = try ExportWorld()
    }

    @Test func `every kind of value comes back`() async throws {
        try await world.set([
            ("kinds/all", Samples.everyKind), ("kinds/none", [:]),
            ("rooms/blue/messages/__id42__", ["text": .string("hi")]),
            ("a/b/c/d/e/f", ["deep": .boolean(true)]), ("ünï/cödé 🏝️", ["x": .integer(1)]),
        ])
        let place = folder.file("export")
        #expect(try await world.export(to: place) == 5)
        let other = try ExportWorld()
        let results = try await other.bringIn(place)
        #expect(results == [Importer.Result(database: world.database, documents: 5)])
        #expect(try await other.documents() == world.documents())
        // A missing ancestor stays missing.
        #expect(try await other.documents()["rooms/blue"] == nil)
    }

    /// Firebase's tools on Windows make the same folder, in which the files name each other with
    /// backslashes.
    @Test func `an export that was made on Windows comes back`() async throws {
        try await world.set([("rooms/blue", ["n": .integer(1)]), ("a/b/c/d", [:])])
        let place = folder.file("export")
        #expect(try await world.export(to: place) == 2)
        func windows(_ name: String) -> String { name.replacing("/", with: "\\") }
        let listing = place + "/" + ExportListing.fileName
        var parts = try JSONDecoder().decode(
            ExportListing.self, from: Data(contentsOf: URL(filePath: listing)))
        let named = try #require(parts.firestore?.metadata_file)
        parts.firestore?.metadata_file = windows(named)
        parts.tidemark = nil
        try JSONEncoder().encode(parts).write(to: URL(filePath: listing))
        let overall = place + "/" + named
        var old = try LogReader(overall)
        _ = try old.next()
        let record = try #require(try old.next())
        var part = try #require(ExportMetadata.overall(record).first)
        part.kindFile = windows(part.kindFile)
        #expect(
            part.kindFile.contains("\\") && parts.firestore?.metadata_file?.contains("\\") == true)
        var log = try LogWriter(overall)
        try log.append(ExportMetadata.version)
        try log.append(ExportMetadata.record(part))
        try log.finish()
        let other = try ExportWorld()
        try await other.bringIn(place)
        #expect(try await other.documents() == world.documents())
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `random documents come back`(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let database = try DatabaseID(
            project: "p-\(seed)", database: seed % 3 == 0 ? "eu" : "(default)")
        let writer = EntityWriter(database)
        for _ in 0..<40 {
            let path = values.path()
            let fields = values.fields(depth: 0)
            let document = Document(
                path: path, fields: fields, createTime: .epoch, updateTime: .epoch)
            let entity = try EntityReader().entity(writer.entity(document))
            #expect(entity.path == path)
            #expect(entity.fields == fields, "seed \(seed)")
            #expect(entity.project == database.project)
            #expect(entity.database == (seed % 3 == 0 ? "eu" : ""))
        }
    }

    @Test func `the same documents make the same bytes`() async throws {
        try await world.set((0..<900).map { ("rows/r\($0)", ["n": .integer(Int64($0))]) })
        _ = try await world.export(to: folder.file("one"))
        _ = try await world.export(to: folder.file("two"))
        let (one, two) = (try folder.contents(of: "one"), try folder.contents(of: "two"))
        #expect(one == two)
        #expect(
            one.keys.sorted() == [
                "firebase-export-metadata.json",
                "firestore_export/all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata",
                "firestore_export/all_namespaces/all_kinds/output-0",
                "firestore_export/firestore_export.overall_export_metadata",
            ])
    }

    @Test func `an empty database has one file beside the listing`() async throws {
        #expect(try await world.export(to: folder.file("empty")) == 0)
        #expect(
            try folder.contents(of: "empty").keys.sorted() == [
                "firebase-export-metadata.json",
                "firestore_export/firestore_export.overall_export_metadata",
            ])
        let other = try ExportWorld()
        #expect(
            try await other.bringIn(folder.file("empty")) == [
                Importer.Result(database: world.database, documents: 0)
            ])
    }

    @Test(arguments: [5_000, 100])
    func `an export is of one time while writes go on`(pageSize: Int) async throws {
        let rows = 3_000
        try await world.set((0..<rows).map { ("rows/r\(10_000 + $0)", ["round": .integer(0)]) })
        let place = folder.file("export")
        async let exported = world.export(to: place, pageSize: pageSize)
        for round in 1...10 as ClosedRange<Int64> {
            // The commit contains all changes of a round, so an export that contains two rounds has
            // read at two times.
            let mutations = try stride(from: 0, to: rows, by: 15).map { row in
                Mutation(
                    path: try DocumentPath("rows/r\(10_000 + row)"),
                    .set(["round": .integer(round)]))
            }
            _ = try await world.server.commit(mutations, world.context)
        }
        #expect(try await exported == rows)
        let other = try ExportWorld()
        try await other.bringIn(place)
        let found = try await other.documents()
        let rounds = Set(
            stride(from: 0, to: rows, by: 15).map { found["rows/r\(10_000 + $0)"]?["round"] })
        #expect(rounds.count == 1)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7])
    func `pages of any size make the same export`(pageSize: Int) async throws {
        try await world.set(
            ["a/1", "a/1/b/1", "a/1/b/2", "a/2", "b/1", "b/__id7__"].map {
                ($0, ["path": .string($0)])
            })
        #expect(try await world.export(to: folder.file("whole")) == 6)
        #expect(try await world.export(to: folder.file("pages"), pageSize: pageSize) == 6)
        #expect(try folder.contents(of: "whole") == folder.contents(of: "pages"))
    }

    @Test func `all databases of a server lie in one folder`() async throws {
        let eu = try DatabaseID(project: "shop", database: "eu")
        try await world.set([("a/b", ["x": .integer(1)])])
        try await world.set([("c/d", ["x": .integer(2)])], in: eu)
        let place = folder.file("export")
        #expect(try await world.export(to: place, databases: [world.database, eu]) == 2)
        let other = try ExportWorld()
        let results = try await other.bringIn(place, project: "copy")
        #expect(
            results.map(\.database.name) == [
                "projects/copy/databases/(default)", "projects/copy/databases/eu",
            ])
        #expect(try await other.documents(in: results[1].database) == ["c/d": ["x": .integer(2)]])
    }

    @Test func `what is there stays, and equal names are replaced`() async throws {
        try await world.set([("a/b", ["x": .integer(1)]), ("a/c", ["x": .integer(1)])])
        _ = try await world.export(to: folder.file("export"))
        let other = try ExportWorld()
        try await other.set([("a/c", ["y": .integer(5)]), ("a/d", ["y": .integer(5)])])
        try await other.bringIn(folder.file("export"))
        #expect(
            try await other.documents() == [
                "a/b": ["x": .integer(1)], "a/c": ["x": .integer(1)], "a/d": ["y": .integer(5)],
            ])
    }

    @Test func `a folder with something else is not replaced`() async throws {
        let place = folder.file("home")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: place + "/letter.txt"))
        await #expect(throws: ExportError.holdsSomethingElse(folder: place)) {
            try await world.export(to: place)
        }
        #expect(try folder.contents(of: "home") == ["letter.txt": Data("mine".utf8)])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["home"])
    }

    @Test func `an export that fails leaves the old one, and nothing else`() async throws {
        try await world.set([("a/b", ["x": .integer(1)])])
        let place = folder.file("export")
        _ = try await world.export(to: place)
        let before = try folder.contents(of: "export")
        world.server.close()
        await #expect(throws: ExportError.self) { try await world.export(to: place) }
        #expect(try folder.contents(of: "export") == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["export"])
    }

    @Test func `a new export takes the old one's place`() async throws {
        try await world.set([("a/b", ["x": .integer(1)])])
        let place = folder.file("export")
        _ = try await world.export(to: place)
        try await world.set([("a/c", ["x": .integer(1)])])
        #expect(try await world.export(to: place) == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["export"])
    }
}
