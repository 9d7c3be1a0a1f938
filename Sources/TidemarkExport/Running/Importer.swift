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
        var readers: [(ExportReader, DatabaseID)] = []
        for part in source.databases {
            let reader = try ExportReader(part.metadataFile)
            let contents = try reader.check()
            let named = part.database ?? contents.databases.sorted().first ?? "(default)"
            if let other = contents.databases.sorted().first(where: { $0 != (database ?? named) }) {
                throw .otherDatabase(path: part.metadataFile, found: other)
            }
            let target = project ?? part.project ?? contents.projects.sorted().first
            guard let target else { continue }
            do throws(InvalidPath) {
                readers.append(
                    (reader, try DatabaseID(project: target, database: database ?? named)))
            } catch { throw .damaged(path: part.metadataFile, problem: error.message) }
        }
        var results: [Result] = []
        for (reader, database) in readers {
            results.append(
                Result(database: database, documents: try await write(reader, database)))
        }
        return results
    }

    private func write(
        _ reader: ExportReader, _ database: DatabaseID
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
