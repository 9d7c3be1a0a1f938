import Foundation
package import TidemarkModel

/// The facts about a database in an export, without its documents.
package struct ExportContents: Equatable, Sendable {
    package var documents = 0
    /// The projects and databases that the documents name.
    package var projects: Set<String> = []
    package var databases: Set<String> = []
}

/// A database of an export, in any form.
protocol DocumentReader: Sendable {
    /// Reads and checks the whole database.
    ///
    /// - Throws: The first ``ExportError``, which names the file.
    func check() throws(ExportError) -> ExportContents

    /// Calls `body` with the documents in the order of the files, at most `size` per call.
    func batches(
        of size: Int, _ body: ([Mutation]) async throws(ExportError) -> Void
    ) async throws(ExportError)
}

/// A database of an export, from its files.
///
/// The reader stores no documents: each call reads the files again. ``check()`` reads all of them,
/// so a later import does not fail because of the files.
package struct ExportReader: DocumentReader {
    private let outputs: [String]
    private let expected: Int?

    /// - Parameter file: The file whose name ends with `.overall_export_metadata`.
    /// - Throws: ``ExportError``. A named file outside of the folder is refused and not opened.
    package init(_ file: String) throws(ExportError) {
        var log = try LogReader(file)
        guard let version = try log.next() else {
            throw .damaged(path: file, problem: "It is empty.")
        }
        guard version == ExportMetadata.version else { throw .unknownVersion(path: file) }
        let record = try log.next() ?? []
        let parts = try Self.reading(file) { () throws(EntityProblem) in
            try ExportMetadata.overall(record)
        }
        let root = URL(fileURLWithPath: file).deletingLastPathComponent()
        var outputs: [String] = []
        for part in parts {
            let kindFile = try ExportSource.inside(root, part.kindFile, namedBy: file)
            outputs += try Self.outputs(of: kindFile.path, root: root)
            if outputs.count > ExportMetadata.maxOutputs {
                throw .damaged(path: file, problem: "The list has too many files.")
            }
        }
        self.outputs = outputs
        let counts = parts.map(\.documents)
        // Production's exports can omit the number.
        expected = counts.contains(0) ? nil : counts.reduce(0, +)
    }

    private static func outputs(of file: String, root: URL) throws(ExportError) -> [String] {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: file)) } catch {
            throw .file(path: file, reason: "there is no such file, or it cannot be read")
        }
        let kind = try reading(file) { () throws(EntityProblem) in
            try ExportMetadata.kind(Array(data))
        }
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        var outputs: [String] = []
        for output in kind.outputs {
            outputs.append(try ExportSource.inside(folder, output, root: root, namedBy: file).path)
        }
        return outputs
    }

    private static func reading<T>(
        _ file: String, _ body: () throws(EntityProblem) -> T
    ) throws(ExportError) -> T {
        do throws(EntityProblem) { return try body() } catch {
            throw .damaged(path: file, problem: error.text)
        }
    }

    /// Reads everything, and checks each checksum, each document, and their number.
    ///
    /// - Throws: The first ``ExportError``, which names the file.
    package func check() throws(ExportError) -> ExportContents {
        var contents = ExportContents()
        try each { entity throws(ExportError) in
            contents.documents += 1
            contents.projects.insert(entity.project)
            contents.databases.insert(entity.database.isEmpty ? "(default)" : entity.database)
        }
        if let expected, expected != contents.documents {
            throw .damaged(
                path: outputs.first ?? "",
                problem: "only \(contents.documents) of \(expected) documents are there.")
        }
        return contents
    }

    /// Calls `body` with the documents in the order of the files, at most `size` per call.
    package func batches(
        of size: Int, _ body: ([Mutation]) async throws(ExportError) -> Void
    ) async throws(ExportError) {
        let entities = EntityReader()
        var batch: [Mutation] = []
        for output in outputs {
            var log = try LogReader(output)
            while let record = try log.next() {
                let entity = try Self.reading(output) { () throws(EntityProblem) in
                    try entities.entity(record)
                }
                batch.append(Mutation(path: entity.path, .set(entity.fields)))
                if batch.count >= size {
                    try await body(batch)
                    batch.removeAll(keepingCapacity: true)
                }
            }
        }
        if !batch.isEmpty { try await body(batch) }
    }

    private func each(
        _ body: (Entity) throws(ExportError) -> Void
    ) throws(ExportError) {
        let entities = EntityReader()
        for output in outputs {
            var log = try LogReader(output)
            while let record = try log.next() {
                let entity = try Self.reading(output) { () throws(EntityProblem) in
                    try entities.entity(record)
                }
                try body(entity)
            }
        }
    }
}
