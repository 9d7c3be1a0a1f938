package import TidemarkModel

/// Brings an export's documents into a server.
package struct Importer: Sendable {
    /// Documents in one commit: small enough that other calls do not wait long.
    private static let batchSize = 250

    private let transport: any Transport
    /// What every call carries, its database aside: a token where the server asks for one.
    private let context: CallContext

    package init(_ transport: any Transport, _ context: CallContext) {
        self.transport = transport
        self.context = context
    }

    /// What came of an import.
    package struct Result: Equatable, Sendable {
        package var database: DatabaseID
        package var documents: Int
    }

    /// An export that was read to its end, and found whole.
    package struct Checked: Sendable {
        fileprivate var parts: [(reader: any DocumentReader, database: DatabaseID)] = []

        /// Where its documents go, in its order.
        package var databases: [DatabaseID] { parts.map(\.database) }
    }

    /// Documents that are there stay, and those of the same name are replaced. Everything is checked
    /// before the first is written.
    ///
    /// - Parameters:
    ///   - project: Where the documents go; nil for the project that they say they are of.
    ///   - database: The one that they have to be of, or nil for any.
    /// - Returns: One for each database of the export, in its order.
    /// - Throws: ``ExportError``. Only `refused` comes after a first document was written.
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

    /// - Throws: `refused`, and what has changed in the files since they were checked.
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
