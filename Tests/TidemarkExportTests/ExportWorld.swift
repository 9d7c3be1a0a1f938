import Foundation
import TidemarkModel
import TidemarkServer

@testable import TidemarkExport

/// A folder that is deleted with the test.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-export-" + UUID().uuidString).path

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// Returns the content of every file in the folder, by its path relative to the folder.
    func contents(of name: String) throws -> [String: Data] {
        let root = file(name)
        var contents: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            var isFolder: ObjCBool = false
            let full = root + "/" + path
            _ = FileManager.default.fileExists(atPath: full, isDirectory: &isFolder)
            if !isFolder.boolValue { contents[path] = try Data(contentsOf: URL(filePath: full)) }
        }
        return contents
    }
}

/// A server in memory, and the calls that exports and imports need.
struct ExportWorld {
    let server: FirestoreServer
    let database: DatabaseID

    init(project: String = "shop", database: String = "(default)") throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        self.database = try DatabaseID(project: project, database: database)
    }

    var context: CallContext { CallContext(database: database) }

    func set(_ documents: [(String, MapValue)], in other: DatabaseID? = nil) async throws {
        var context = context
        context.database = other ?? database
        for start in stride(from: 0, to: documents.count, by: 400) {
            let part = documents[start..<min(documents.count, start + 400)]
            _ = try await server.commit(
                try part.map { Mutation(path: try DocumentPath($0.0), .set($0.1)) }, context)
        }
    }

    /// Returns every document's fields by its path. The read uses a query, not the code of exports.
    func documents(in other: DatabaseID? = nil) async throws -> [String: MapValue] {
        var context = context
        context.database = other ?? database
        let query = Query(collectionID: nil, allDescendants: true)
        let found = try await server.documents(of: query, context).documents
        return Dictionary(uniqueKeysWithValues: found.map { ($0.path.text, $0.fields) })
    }

    func export(
        to place: String, databases: [DatabaseID]? = nil, pageSize: Int = 5_000
    ) async throws -> Int {
        let results = try await Exporter(server, context, pageSize: pageSize).run(
            databases ?? [database], to: place)
        return results.map(\.documents).reduce(0, +)
    }

    @discardableResult
    func bringIn(_ place: String, project: String? = nil) async throws -> [Importer.Result] {
        try await Importer(server, context).run(try ExportSource(place), project: project)
    }
}

/// Contains a value of every kind that a document can hold.
enum Samples {
    static let everyKind: MapValue = [
        "null": .null, "yes": .boolean(true), "no": .boolean(false),
        "zero": .integer(0), "least": .integer(.min), "most": .integer(.max),
        "minus zero": .double(-0.0), "third": .double(1.0 / 3), "nan": .double(.nan),
        "infinite": .double(-.infinity), "whole": .double(3),
        "time": .timestamp(Timestamp(seconds: -62_135_596_800, nanoseconds: 1_000)),
        "late": .timestamp(Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_000)),
        "text": .string("naïve \u{0} 🏝️"), "empty": .string(""),
        "bytes": .bytes([0, 255, 128]), "no bytes": .bytes([]),
        "place": .geoPoint(GeoPoint(latitude: -90, longitude: 179.5)),
        "reference": .reference(
            ReferenceValue(
                database: try! DatabaseID(project: "other", database: "eu"),
                path: try! DocumentPath("a/b/c/__id7__"))),
        "nothing": .array([]),
        "list": .array([.integer(1), .null, .map(["deep": .array([.string("x")])]), .double(2)]),
        "map": .map(["a": .map([:]), "b": .array([]), "c": .bytes([1])]),
        "vector": .vector(VectorValue([0.5, -1, 3])),
    ]
}
