package import Foundation
package import TidemarkModel

/// Writes what a server holds into a folder of the official form.
package struct Exporter: Sendable {
    private let transport: any Transport
    private let context: CallContext

    /// - Parameter context: What every call carries, its database aside.
    package init(_ transport: any Transport, _ context: CallContext) {
        self.transport = transport
        self.context = context
    }

    /// What an export holds.
    package struct Result: Equatable, Sendable {
        package var database: DatabaseID
        package var documents: Int
    }

    /// Writes each database as of one time of its own, while writes go on. The folder that was there is
    /// there until the new one is whole.
    ///
    /// - Parameters:
    ///   - databases: The first is the one that the official tools see.
    ///   - accounts: Files of the accounts' folder with their contents; none for no such folder.
    /// - Throws: ``ExportError``; what was in the folder's place stays. Cancelling the task ends it so.
    package func run(
        _ databases: [DatabaseID], to place: String, accounts: [(name: String, data: Data)] = []
    ) async throws(ExportError) -> [Result] {
        let folder = try ExportFolder(at: place)
        do throws(ExportError) {
            let results = try await write(databases, to: folder.draft, accounts)
            try folder.commit()
            return results
        } catch {
            folder.abandon()
            throw error
        }
    }

    private func write(
        _ databases: [DatabaseID], to folder: String, _ accounts: [(name: String, data: Data)]
    ) async throws(ExportError) -> [Result] {
        var listing = ExportListing(tidemark: [])
        var results: [Result] = []
        for (index, database) in databases.enumerated() {
            let name = index == 0 ? "firestore_export" : "firestore_export_\(index + 1)"
            var writer = try ExportWriter(database, in: folder, name: name)
            try await fill(&writer, database)
            results.append(Result(database: database, documents: try writer.finish()))
            listing.tidemark?.append(
                .init(
                    project: database.project, database: database.database,
                    metadata_file: writer.metadataFile))
            if index == 0 {
                listing.firestore = .init(
                    version: ExportListing.formVersion, path: name,
                    metadata_file: writer.metadataFile)
            }
        }
        if !accounts.isEmpty {
            listing.auth = .init(
                version: ExportListing.formVersion, path: "auth_export", metadata_file: nil)
            for file in accounts {
                try Self.write(file.data, to: "\(folder)/auth_export", file.name)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try Self.write(try encoder.encode(listing), to: folder, ExportListing.fileName)
        } catch let error as ExportError { throw error } catch {
            throw .file(path: folder, reason: error.localizedDescription)
        }
        return results
    }

    private static func write(
        _ data: Data, to folder: String, _ name: String
    ) throws(ExportError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try data.write(to: URL(fileURLWithPath: folder + "/" + name))
        } catch { throw .file(path: folder + "/" + name, reason: error.localizedDescription) }
    }

    /// One answer of the server holds all documents as of one time. It makes no more of it than is
    /// taken from it here.
    private func fill(
        _ writer: inout ExportWriter, _ database: DatabaseID
    ) async throws(ExportError) {
        var context = context
        context.database = database
        let rows = PacedRows(transport, context)
        while true {
            let document: Document?
            do throws(RPCStatus) { document = try await rows.next() } catch {
                throw .unreadable(database: database.name, reason: error.message)
            }
            guard let document else { return }
            try writer.add(document)
        }
    }
}
