import Foundation
import TidemarkModel
public import TidemarkServer

/// The requests of Firebase's tools to an emulator, in addition to Firestore's own calls.
///
/// `DELETE /emulator/v1/projects/P/databases/D/documents` removes every document of a database.
/// Source: server-protocol 5.3.
public struct EmulatorEndpoints: WebPages {
    private let server: FirestoreServer

    public init(_ server: FirestoreServer) { self.server = server }

    /// Returns the names in the path; nil for another path. Empty names are not among its segments.
    static func database(clearedAt path: [String]) -> (project: String, database: String)? {
        guard path.starts(with: ["emulator", "v1", "projects"]), path.last == "documents",
            path.contains("databases"), path.count <= 7
        else { return nil }
        guard path.count == 7, path[4] == "databases" else { return ("", "") }
        return (path[3], path[5])
    }

    public func answer(_ request: PageRequest) async -> PageAnswer? {
        guard request.method == "DELETE", let names = Self.database(clearedAt: request.path) else {
            return nil
        }
        guard let database = try? DatabaseID(project: names.project, database: names.database)
        else {
            return .json(
                status: 400, ["error": "/\(request.path.joined(separator: "/")) names no database."]
            )
        }
        do throws(RPCStatus) { try await server.clear(database) } catch {
            return .json(status: 503, ["error": error.message])
        }
        return .json([:])
    }
}

extension PageAnswer {
    fileprivate static func json(status: Int = 200, _ fields: [String: String]) -> PageAnswer {
        // JSON can represent every text.
        let data = (try? JSONEncoder().encode(fields)) ?? Data()
        return PageAnswer(
            status: status, type: "application/json", body: .bytes(Array(data)))
    }
}
