package import Foundation
package import TidemarkModel

/// Writes a server's data into a folder in the official form.
package struct Exporter: Sendable {
    private let transport: any Transport
    private let context: CallContext
    private let pageSize: Int

    /// - Parameters:
    ///   - context: The context of every call, apart from its database.
    ///   - pageSize: The number of documents that a call reads. For each page, the server checks
    ///     the names of all documents, because the documents of several collections have no common
    ///     order. Small pages are therefore slow.
    package init(_ transport: any Transport, _ context: CallContext, pageSize: Int = 20_000) {
        self.transport = transport
        self.context = context
        self.pageSize = pageSize
    }

    /// The accounts of a project, as files.
    package struct Accounts: Sendable {
        package var project: String
        /// The files of the accounts' folder, with their contents.
        package var files: [(name: String, data: Data)]

        package init(project: String, files: [(name: String, data: Data)]) {
            self.project = project
            self.files = files
        }
    }

    /// Writes the objects of a server into a folder that does not exist.
    package typealias Objects = @Sendable (_ folder: String) async throws(ExportError) -> Void

    /// The result of the export of a database.
    package struct Result: Equatable, Sendable {
        package var database: DatabaseID
        package var documents: Int
    }

    /// Exports each database as of a single time, while writes continue. An existing export stays
    /// in place until the new export is complete.
    ///
    /// - Parameters:
    ///   - databases: The databases. The official tools see only the first.
    ///   - accounts: The accounts of projects. The official tools see only the first.
    ///   - objects: Writes the objects; nil if there are none.
    /// - Throws: ``ExportError``, also if the task is cancelled. An existing export then remains in
    ///   place.
    package func run(
        _ databases: [DatabaseID], to place: String, accounts: [Accounts] = [],
        objects: Objects? = nil
    ) async throws(ExportError) -> [Result] {
        let folder = try ExportFolder(at: place)
        let results: [Result]
        do throws(ExportError) {
            results = try await write(
                databases, to: folder.draft, accounts: accounts, objects: objects)
        } catch {
            folder.abandon()
            throw error
        }
        try folder.commit()
        return results
    }

    private func write(
        _ databases: [DatabaseID], to folder: String, accounts: [Accounts], objects: Objects?
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
        if let objects {
            try await objects(folder + "/storage_export")
            listing.storage = .init(
                version: ExportListing.formVersion, path: "storage_export", metadata_file: nil)
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

    /// Writes the folder of one database without a listing, like an export of the official emulator
    /// itself.
    ///
    /// - Parameters:
    ///   - place: The folder. It is made. An existing export stays in place until the new export is
    ///     complete.
    ///   - name: The prefix of the files' names.
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
    /// - Parameter file: A path that ends with `.jsonl`. An existing file stays in place until the
    ///   new file is complete.
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
