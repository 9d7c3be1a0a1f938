package import TidemarkModel

/// Imports an export's documents into a server.
package struct Importer: Sendable {
    /// The number of documents in a commit: small, so other calls do not wait long.
    private static let batchSize = 250

    private let transport: any Transport
    /// The context of every call, apart from its database: a token if the server requires it.
    private let context: CallContext

    package init(_ transport: any Transport, _ context: CallContext) {
        self.transport = transport
        self.context = context
    }

    /// The result of an import.
    package struct Result: Equatable, Sendable {
        package var database: DatabaseID
        package var documents: Int
    }

    /// An export that was read to its end, and is complete.
    package struct Checked: Sendable {
        fileprivate var parts: [(reader: any DocumentReader, database: DatabaseID)] = []

        /// The target databases, in the order of the export.
        package var databases: [DatabaseID] { parts.map(\.database) }
    }

    /// Imports an export. Existing documents stay, except that documents with the same name are
    /// replaced. Everything is checked before the first write.
    ///
    /// - Parameters:
    ///   - project: The target project; nil for the project in the documents.
    ///   - database: The required database of the documents, or nil for any.
    /// - Returns: The results, one per database of the export, in its order.
    /// - Throws: ``ExportError``. Only `refused` can follow a first write.
    package func run(
        _ source: ExportSource, project: String? = nil, database: String? = nil
    ) async throws(ExportError) -> [Result] {
        try await write(try check(source, project: project, database: database))
    }

    /// Reads everything, and writes nothing.
    package func check(
        _ source: ExportSource, project: String? = nil, database: String? = nil
    ) throws(ExportError) -> Checked {
        var checked = Checked()
        for part in source.databases {
            let reader = try Self.reader(of: part.metadataFile)
            let contents = try reader.check()
            let named = part.database ?? contents.databases.sorted().first ?? "(default)"
            if let other = contents.databases.sorted().first(where: { $0 != (database ?? named) }) {
                throw .otherDatabase(path: part.metadataFile, found: other)
            }
            let target = project ?? part.project ?? contents.projects.sorted().first
            guard let target else { continue }
            do throws(InvalidPath) {
                checked.parts.append(
                    (reader, try DatabaseID(project: target, database: database ?? named)))
            } catch { throw .damaged(path: part.metadataFile, problem: error.message) }
        }
        return checked
    }

    private static func reader(of file: String) throws(ExportError) -> any DocumentReader {
        if LinesForm.isFile(file) { return try LinesReader(file) }
        return try ExportReader(file)
    }

    /// - Throws: `refused`, or the error of a file that has changed since the check.
    package func write(_ checked: Checked) async throws(ExportError) -> [Result] {
        var results: [Result] = []
        for (reader, database) in checked.parts {
            results.append(
                Result(database: database, documents: try await write(reader, database)))
        }
        return results
    }

    private func write(
        _ reader: any DocumentReader, _ database: DatabaseID
    ) async throws(ExportError) -> Int {
        var context = context
        context.database = database
        var written = 0
        try await reader.batches(of: Self.batchSize) { batch throws(ExportError) in
            do throws(RPCStatus) { _ = try await transport.commit(batch, context) } catch {
                throw .refused(written: written, reason: error.message)
            }
            written += batch.count
        }
        return written
    }
}
