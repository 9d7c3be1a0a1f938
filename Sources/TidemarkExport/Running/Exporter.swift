package import Foundation
package import TidemarkModel

/// Writes what a server holds into a folder of the official form.
package struct Exporter: Sendable {
    private let transport: any Transport
    private let context: CallContext
    private let pageSize: Int

    /// - Parameters:
    ///   - context: What every call carries, its database aside.
    ///   - pageSize: Documents that one call reads. The server looks at all names for each page, because
    ///     documents of many collections do not lie in one order: pages that are small take long.
    package init(_ transport: any Transport, _ context: CallContext, pageSize: Int = 20_000) {
        self.transport = transport
        self.context = context
        self.pageSize = pageSize
    }

    /// A project's accounts, as files.
    package struct Accounts: Sendable {
        package var project: String
        /// Files of the accounts' folder with their contents.
        package var files: [(name: String, data: Data)]

        package init(project: String, files: [(name: String, data: Data)]) {
            self.project = project
            self.files = files
        }
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
    ///   - accounts: The first are the ones that the official tools see.
    /// - Throws: ``ExportError``; what was in the folder's place stays. Cancelling the task ends it so.
    package func run(
        _ databases: [DatabaseID], to place: String, accounts: [Accounts] = []
    ) async throws(ExportError) -> [Result] {
        let folder = try ExportFolder(at: place)
        let results: [Result]
        do throws(ExportError) {
            results = try await write(databases, to: folder.draft, accounts)
        } catch {
            folder.abandon()
            throw error
        }
        try folder.commit()
        return results
    }

    private func write(
        _ databases: [DatabaseID], to folder: String, _ accounts: [Accounts]
    ) async throws(ExportError) -> [Result] {
        var listing = ExportListing(tidemark: [])
        var results: [Result] = []
        for (index, database) in databases.enumerated() {
            let name = index == 0 ? "firestore_export" : "firestore_export_\(index + 1)"
            var writer = try ExportWriter(database, at: folder + "/" + name, name: name)
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
        for (index, part) in accounts.enumerated() {
            let name = index == 0 ? "auth_export" : "auth_export_\(index + 1)"
            if index == 0 {
                listing.auth = .init(
                    version: ExportListing.formVersion, path: name, metadata_file: nil)
            }
            listing.tidemark_accounts =
                (listing.tidemark_accounts ?? []) + [
                    .init(project: part.project, path: name)
                ]
            for file in part.files {
                try Self.write(file.data, to: "\(folder)/\(name)", file.name)
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
        try ExportFiles.makeFolder(folder)
        try ExportFiles.write(data, to: folder + "/" + name)
    }

    /// Writes one database's own folder, without a listing around it, as the official emulator does
    /// when it is asked itself.
    ///
    /// - Parameters:
    ///   - place: The folder that is made. One that was there is there until the new one is whole.
    ///   - name: What its files are named after.
    package func run(
        _ database: DatabaseID, to place: String, name: String
    ) async throws(ExportError) -> Result {
        let folder = try ExportFolder(at: place)
        let documents: Int
        do throws(ExportError) {
            var writer = try ExportWriter(database, at: folder.draft, name: name)
            try await fill(&writer, database)
            documents = try writer.finish()
        } catch {
            folder.abandon()
            throw error
        }
        try folder.commit()
        return Result(database: database, documents: documents)
    }

    /// Writes one database as JSON lines: see ``LinesForm``.
    ///
    /// - Parameter file: Its name ends with `.jsonl`. One that was there is there until the new one is
    ///   whole.
    package func run(
        _ database: DatabaseID, toLines file: String
    ) async throws(ExportError) -> Result {
        var writer = try LinesWriter(database, to: file)
        do throws(ExportError) {
            try await each(of: database) { document throws(ExportError) in
                try writer.add(document)
            }
            return Result(database: database, documents: try writer.finish())
        } catch {
            writer.abandon()
            throw error
        }
    }

    private func fill(
        _ writer: inout ExportWriter, _ database: DatabaseID
    ) async throws(ExportError) {
        try await each(of: database) { document throws(ExportError) in try writer.add(document) }
    }

    private func each(
        of database: DatabaseID, _ body: (Document) throws(ExportError) -> Void
    ) async throws(ExportError) {
        var context = context
        context.database = database
        var rows = DatabaseRows(transport, context, pageSize: pageSize)
        while true {
            let document: Document?
            do throws(RPCStatus) { document = try await rows.next() } catch {
                throw .unreadable(database: database.name, reason: error.message)
            }
            guard let document else { return }
            try body(document)
        }
    }
}
