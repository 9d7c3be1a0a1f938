import Foundation
import Synchronization
import TidemarkExport
import TidemarkHTTP
import TidemarkModel
import TidemarkObjects
import TidemarkServer

/// Exports and imports a server's documents, accounts and objects.
struct WholeExport: Sendable {
    let server: FirestoreServer
    /// The accounts; nil if the server has none.
    let accounts: AccountsServer?
    /// The objects; nil if the server has none.
    let objects: ObjectsServer?

    struct Counts: Equatable {
        var documents = 0
        var accounts = 0
        /// The number of objects; nil if the server has none.
        var objects: Int?
    }

    /// - Parameter project: The project that the official tools read; nil for the first project
    ///   with documents.
    func write(to place: String, project: String? = nil) async throws(ExportError) -> Counts {
        // The order matters, because the official tools read only the first database.
        func rank(_ database: DatabaseID) -> Int {
            (database.project == project ? 0 : 2) + (database.database == "(default)" ? 0 : 1)
        }
        let databases = server.databases().sorted { rank($0) < rank($1) }
        let first = project ?? databases.first?.project ?? accounts?.settings.project
        let people = try await people(first: first)
        let counted = ObjectCount()
        let results = try await Exporter(server, try Self.context("demo")).run(
            databases, to: place, accounts: people.parts, objects: writer(counted))
        return Counts(
            documents: results.map(\.documents).reduce(0, +), accounts: people.count,
            objects: objects.map { _ in counted.value })
    }

    /// Counts the objects of an export while it is written.
    private final class ObjectCount: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func set(_ count: Int) { self.count.store(count, ordering: .relaxed) }
    }

    private func writer(_ counted: ObjectCount) -> Exporter.Objects? {
        guard let objects else { return nil }
        return { (folder) throws(ExportError) in
            do throws(ObjectRefusal) {
                counted.set(try await objects.export(to: folder))
            } catch { throw .objects(reason: error.message) }
        }
    }

    private func people(
        first: String?
    ) async throws(ExportError) -> (parts: [Exporter.Accounts], count: Int) {
        guard let accounts else { return ([], 0) }
        do throws(AccountRefusal) {
            let projects = try await accounts.projects().sorted {
                ($0 == first ? 0 : 1) < ($1 == first ? 0 : 1)
            }
            var parts: [Exporter.Accounts] = []
            var count = 0
            for project in projects {
                let (files, accounts) = try await accounts.files(of: project)
                parts.append(Exporter.Accounts(project: project, files: files))
                count += accounts
            }
            return (parts, count)
        } catch { throw .accounts(reason: error.message) }
    }

    /// Imports an export. Everything is read before the first write, and either all accounts of a
    /// project are stored or none.
    ///
    /// - Parameters:
    ///   - project: The target project; nil for the project of the export.
    ///   - say: Receives a line for each part.
    func bringIn(
        _ place: String, project: String?, say: (String) -> Void
    ) async throws(ExportError) {
        let source = try ExportSource(place)
        let importer = Importer(server, try Self.context(project ?? "demo"))
        let documents = try importer.check(source, project: project)
        let files = try self.files(of: source, say: say)
        var people: [(project: String, saved: SavedAccounts)] = []
        for part in source.accounts {
            guard let accounts else {
                say(
                    """
                    the export's accounts were not imported: the server has no accounts with \
                    --accounts off
                    """)
                break
            }
            let files = try source.files(AccountFiles.names, of: part)
            // The official listing does not name the project, so the project of the documents is
            // used.
            let target =
                project ?? part.project ?? documents.databases.first?.project
                ?? accounts.settings.project
            do throws(AccountRefusal) {
                people.append((target, try await accounts.saved(in: files)))
            } catch { throw .accounts(reason: error.message) }
        }
        for (project, saved) in people {
            guard let accounts else { break }
            let result: RestoredAccounts
            do throws(AccountRefusal) {
                result = try await accounts.restore(saved, to: project)
            } catch { throw .accounts(reason: error.message) }
            let lost =
                result.withoutPassword > 0
                ? ", \(result.withoutPassword) of them with passwords that cannot be checked" : ""
            say("imported \(result.accounts) accounts into \(project)\(lost)")
        }
        for result in try await importer.write(documents) {
            say("imported \(result.documents) documents into \(result.database.name)")
        }
        if let files, let objects {
            do throws(ObjectRefusal) { try await objects.bringIn(files) } catch {
                throw .objects(reason: error.message)
            }
            say("imported \(files.count) files")
        }
    }

    /// Reads the objects of an export, without their bytes; nil if there are none, or if the server
    /// has none.
    private func files(
        of source: ExportSource, say: (String) -> Void
    ) throws(ExportError) -> ReadObjects? {
        guard let folder = source.objects else { return nil }
        guard objects != nil else {
            say("the export's files were not imported: start the server with --storage")
            return nil
        }
        do throws(ObjectRefusal) {
            let read = try ObjectsServer.objects(in: folder)
            for path in read.missing { say("\(path) was skipped: its file is missing") }
            return read
        } catch { throw .objects(reason: error.message) }
    }

    /// Returns a context for calls that are not billed and to which no rules apply.
    static func context(_ project: String) throws(ExportError) -> CallContext {
        // The project is arbitrary, because each call of an import or an export names its database.
        do throws(InvalidPath) {
            var context = CallContext(
                database: try DatabaseID(project: project), label: ServerEvents.importLabel,
                token: "owner")
            context.isUnbilled = true
            return context
        } catch { throw .refused(written: 0, reason: error.message) }
    }
}
