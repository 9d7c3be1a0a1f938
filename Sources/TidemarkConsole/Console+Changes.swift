import Foundation
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

/// The changes that pages send. Each change is sent at most once, and only if the data are as
/// shown.
extension Console {
    /// - Returns: The answer; nil for a request that changes nothing here.
    func changed(_ section: String, path: [String], request: PageRequest) async -> PageAnswer? {
        do throws(PageRefusal) {
            switch (request.method, section) {
            case ("POST", "batch"): return try await writeBatch(path, request)
            case ("POST", "import"): return try readImport(request)
            case ("POST", "copy"): return try await copy(path, request)
            case ("POST", "restore"):
                return try await HistoryRoutes(console: self).restore(path, request)
            case ("DELETE", "below"): return try await deleteBelow(path, request)
            case ("POST", "accounts"):
                return try await AccountRoutes(console: self).change(path, request)
            default: return nil
            }
        } catch {
            return .json(
                Refused(error: error.message, conflicts: error.conflicts), status: error.status)
        }
    }

    private struct Refused: Encodable {
        let error: String
        /// The documents that differ from the shown versions.
        let conflicts: [String]
    }

    private struct Written: Encodable {
        let commitTime: String
        let writes: Int
    }

    private func writeBatch(
        _ path: [String], _ request: PageRequest
    ) async throws(PageRefusal) -> PageAnswer {
        let place = try DataPlace(path, request)
        return try await write(try BatchOrder.mutations(in: request.body), in: place.database)
    }

    func write(_ mutations: [Mutation], in database: DatabaseID) async throws(PageRefusal)
        -> PageAnswer
    {
        do throws(RPCStatus) {
            let reply = try await reader.commit(mutations, in: database)
            traffic.noteWrite()
            return .json(
                Written(commitTime: reply.commitTime.rfc3339, writes: mutations.count))
        } catch {
            let codes: [RPCStatus.Code] = [.failedPrecondition, .alreadyExists, .notFound]
            guard codes.contains(error.code) else { throw PageRefusal(400, error.message) }
            let conflicts = await reader.conflicts(of: mutations, in: database)
            var refusal = PageRefusal(
                409,
                mutations.count == 1
                    ? "The document has changed since you opened it."
                    : "Nothing was written: \(conflicts.joined(separator: ", ")) has changed.")
            refusal.conflicts = conflicts
            throw refusal
        }
    }

    // MARK: Copies

    private struct CopyOrder: Decodable {
        let to: String
        /// The update time of the shown version.
        let update: String
        /// True to delete the original.
        let move: Bool?
    }

    /// Copies a document exactly. Documents below it stay at their place.
    private func copy(
        _ path: [String], _ request: PageRequest
    ) async throws(PageRefusal) -> PageAnswer {
        let place = try DataPlace(path, request)
        guard case .document(let source) = place.kind,
            let order = try? JSONDecoder().decode(CopyOrder.self, from: Data(request.body))
        else { throw PageRefusal(400, "Copy needs a source document and a target path.") }
        let target: DocumentPath
        do throws(InvalidPath) { target = try DocumentPath(order.to) } catch {
            throw PageRefusal(400, error.message)
        }
        let document = try await document(source, in: place.database, at: .latest)
        guard let document else { throw PageRefusal(404, "This document does not exist.") }
        let shown = try Precondition(update: order.update)
        var mutations = [
            Mutation(path: target, .set(document.fields), precondition: .exists(false))
        ]
        mutations.append(
            Mutation(path: source, order.move == true ? .delete : .verify, precondition: shown))
        return try await write(mutations, in: place.database)
    }

    func document(
        _ path: DocumentPath, in database: DatabaseID, at time: ReadConsistency
    ) async throws(PageRefusal) -> Document? {
        do throws(RPCStatus) {
            return try await reader.document(path, in: database, at: time)
        } catch {
            throw PageRefusal(400, error.message)
        }
    }

    // MARK: Deleting with descendants

    /// Deletes a document or a collection with everything below it, if the number of documents is
    /// still the shown number.
    private func deleteBelow(
        _ path: [String], _ request: PageRequest
    ) async throws(PageRefusal) -> PageAnswer {
        let place = try DataPlace(path, request)
        guard place.time == nil, let shown = request["count"].flatMap({ Int($0) }) else {
            throw PageRefusal(400, "\"count\" must be the number of documents to delete.")
        }
        do throws(RPCStatus) {
            let count = try await reader.countBelow(place)
            guard count == shown else {
                return .json(
                    Refused(
                        error: """
                            There are now \(count) documents instead of \(shown). None was \
                            deleted.
                            """,
                        conflicts: []), status: 409)
            }
            let deleted = try await reader.deleteBelow(place)
            traffic.noteWrite()
            return .json(["deleted": deleted])
        } catch { throw PageRefusal(400, error.message) }
    }

    // MARK: Imports

    private struct Import: Decodable { let text: String }

    private struct Imported: Encodable { let documents: [DocumentImport.Entry] }

    /// Returns the documents that a text would create; writes nothing.
    private func readImport(_ request: PageRequest) throws(PageRefusal) -> PageAnswer {
        guard let order = try? JSONDecoder().decode(Import.self, from: Data(request.body)) else {
            throw PageRefusal(400, "The body must be {\"text\": …}.")
        }
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        let reader = DocumentImport {
            String((0..<20).map { _ in letters.randomElement() ?? "A" })
        }
        return .json(Imported(documents: try reader.entries(of: order.text)))
    }
}
