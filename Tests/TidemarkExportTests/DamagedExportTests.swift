import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkServer

@testable import TidemarkExport

/// Exports that are damaged, and exports that need more than an import allows.
@Suite(.ownThread) struct DamagedExportTests {
    private let folder: TestFolder
    private let world: ExportWorld

    init() throws {
        folder = try TestFolder()
        world = try ExportWorld()
    }

    /// The number of damaged exports; 10,000 in `make long`.
    private static let rounds =
        ProcessInfo.processInfo.environment["TIDEMARK_FUZZ_EXPORT_FOLDERS"].flatMap(UInt64.init)
        ?? 200

    @Test func `damage anywhere is told, and nothing is imported`() async throws {
        try await world.set(
            (0..<30).map { ("rows/r\($0)", Samples.everyKind) } + [("a/b/c/d", ["x": .integer(1)])])
        let place = folder.file("export")
        _ = try await world.export(to: place)
        let truth = try await world.documents()
        let files = try folder.contents(of: "export")
        let names = files.keys.sorted()
        var found = 0
        for seed in 0..<Self.rounds {
            var random = SeededRandom(seed: seed)
            let name = names[Int(random.next() % UInt64(names.count))]
            let whole = files[name]!
            let damaged = Self.damaged(whole, &random)
            let url = URL(filePath: place + "/" + name)
            try damaged.write(to: url)
            let other = try ExportWorld()
            do {
                try await other.bringIn(place)
                // The import can succeed if the damaged part does not matter: a time, a version, an
                // unknown field.
                let documents = try await other.documents()
                #expect(documents == truth || documents.isEmpty && damaged != whole, "seed \(seed)")
            } catch let error as ExportError {
                found += 1
                #expect(!error.message.isEmpty)
                #expect(try await other.documents().isEmpty, "seed \(seed): half an import")
            }
            try whole.write(to: url)
        }
        #expect(found > Int(Self.rounds) / 2, "\(found) were found")
    }

    private static func damaged(_ whole: Data, _ random: inout SeededRandom) -> Data {
        var data = whole
        switch random.next() % 3 {
        case 0: data = data.prefix(Int(random.next() % UInt64(whole.count)))
        case 1:
            for _ in 0...random.next() % 3 {
                data[Int(random.next() % UInt64(whole.count))] = UInt8(random.next() & 0xFF)
            }
        default: data.append(contentsOf: (0...random.next() % 9).map { UInt8($0 + 1) })
        }
        return data
    }

    /// Builds entities from random bytes, with correct checksums.
    @Test func `entities of noise are refused`() {
        for seed in 0..<5_000 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var bytes = (0..<(random.next() % 60)).map { _ in UInt8(random.next() & 0xFF) }
            if seed.isMultiple(of: 2) {
                let document = Document(
                    path: DocumentPath(unchecked: "a/b"), fields: Samples.everyKind,
                    createTime: .epoch, updateTime: .epoch)
                bytes = EntityWriter(world.database).entity(document)
                for _ in 0...random.next() % 3 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 0xFF)
                }
            }
            _ = try? EntityReader().entity(bytes)
        }
    }

    @Test func `maps that lie too deep are refused`() throws {
        var fields: MapValue = ["x": .integer(1)]
        for _ in 0..<60 { fields = ["m": .map(fields)] }
        let document = Document(
            path: DocumentPath(unchecked: "a/b"), fields: fields, createTime: .epoch,
            updateTime: .epoch)
        #expect(throws: EntityProblem.self) {
            try EntityReader().entity(EntityWriter(world.database).entity(document))
        }
    }

    @Test(arguments: [
        "../../../secret/output-0", "/etc/passwd", "all_kinds/../../../../etc/passwd",
        "link/output-0", "", #"..\..\..\secret\output-0"#, #"\etc\passwd"#, #"link\output-0"#,
        #"C:\secret\output-0"#, #"all_kinds\..\../..\..\etc/passwd"#,
    ])
    func `a file outside of the export is not opened`(name: String) throws {
        let place = folder.file("export")
        let kinds = place + "/all_namespaces/all_kinds"
        try FileManager.default.createDirectory(atPath: kinds, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: folder.file("secret"), withIntermediateDirectories: true)
        try Data("secret".utf8).write(to: URL(filePath: folder.file("secret/output-0")))
        try FileManager.default.createSymbolicLink(
            atPath: kinds + "/link", withDestinationPath: folder.file("secret"))
        let kindFile = "all_namespaces/all_kinds/k.export_metadata"
        let kind = ExportMetadata.Kind(name: "k", time: 0, outputs: [name])
        try Data(ExportMetadata.bytes(kind)).write(to: URL(filePath: place + "/" + kindFile))
        let overall = place + "/x.overall_export_metadata"
        func write(_ kindFile: String) throws {
            var log = try LogWriter(overall)
            try log.append(ExportMetadata.version)
            try log.append(
                ExportMetadata.record(.init(kindFile: kindFile, documents: 1, bytes: 1)))
            try log.finish()
        }
        try write(kindFile)
        #expect {
            try ExportReader(overall)
        } throws: { error in
            guard case .outside(_, name)? = error as? ExportError else { return false }
            return true
        }
        if name.isEmpty { return }
        try write(name.hasPrefix("link") ? "all_namespaces/all_kinds/" + name : name)
        #expect(throws: ExportError.self) { try ExportReader(overall) }
    }

    @Test func `what is no export is told so`() throws {
        try Data("{}".utf8).write(to: URL(filePath: folder.file("file.json")))
        #expect(throws: ExportError.notAnExport(folder: folder.file("file.json"))) {
            try ExportSource(folder.file("file.json"))
        }
        #expect(throws: ExportError.notAnExport(folder: folder.path)) {
            try ExportSource(folder.path)
        }
        #expect(throws: ExportError.self) { try ExportSource(folder.file("nowhere")) }
        try Data("[]".utf8).write(to: URL(filePath: folder.file(ExportListing.fileName)))
        #expect(throws: ExportError.self) { try ExportSource(folder.path) }
    }

    @Test func `another version is refused`() throws {
        let overall = folder.file("x.overall_export_metadata")
        var log = try LogWriter(overall)
        try log.append([0x34])
        try log.append([])
        try log.finish()
        #expect(throws: ExportError.unknownVersion(path: overall)) { try ExportReader(overall) }
    }

    @Test func `a database is not imported into another one`() async throws {
        let eu = try DatabaseID(project: "shop", database: "eu")
        try await world.set([("a/b", ["x": .integer(1)])], in: eu)
        let place = folder.file("export")
        _ = try await world.export(to: place, databases: [eu])
        let other = try ExportWorld()
        await #expect(throws: ExportError.self) {
            _ = try await Importer(other.server, other.context).run(
                try ExportSource(place), database: "(default)")
        }
        #expect(try await other.documents().isEmpty)
    }
}
