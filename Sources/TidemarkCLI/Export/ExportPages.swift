import Foundation
import TidemarkExport
import TidemarkHTTP
import TidemarkModel
import TidemarkREST

/// The exports and imports that Firebase's tools request from a running server.
///
/// - `POST /_admin/export` of the hub, with `{"path": FOLDER}`: exports everything including
///   accounts. `firebase emulators:export` calls it.
/// - `POST /emulator/v1/projects/P:export` with `{"database", "export_directory", "export_name"}`:
///   exports one database.
/// - `POST /emulator/v1/projects/P:import` with `{"database", "export_directory"}`: imports one
///   database. The directory is the file that ends with `.overall_export_metadata`, or its folder.
///
/// Web pages must not call them, because they write and read files. Source: export 1.
struct ExportPages: WebPages {
    private let whole: WholeExport
    /// The project of the hub; nil for none.
    private let project: String?

    init(_ whole: WholeExport, project: String?) {
        self.whole = whole
        self.project = project
    }

    func answer(_ request: PageRequest) async -> PageAnswer? {
        let path = request.path
        if path == ["_admin", "export"] {
            guard request.method == "POST" else { return nil }
            return await hubExport(request)
        }
        guard request.method == "POST", path.count == 4,
            Array(path[..<3]) == ["emulator", "v1", "projects"],
            let colon = path[3].lastIndex(of: ":")
        else { return nil }
        let project = String(path[3][..<colon])
        do throws(RPCStatus) {
            switch path[3][path[3].index(after: colon)...] {
            case "export": try await export(request, project)
            case "import": try await bringIn(request, project)
            default: return nil
            }
        } catch { return .error(error) }
        return PageAnswer(type: "application/json", body: .bytes(Array("{\n}\n".utf8)))
    }

    // MARK: The hub

    private struct HubRequest: Decodable {
        let path: String
    }

    private func hubExport(_ request: PageRequest) async -> PageAnswer {
        if request.origin != nil {
            return .message(403, "Export cannot be triggered by external callers.")
        }
        guard
            let body = try? JSONDecoder().decode(HubRequest.self, from: Data(request.body)),
            body.path.hasPrefix("/")
        else { return .message(400, "path must be an absolute path.") }
        do throws(ExportError) {
            _ = try await whole.write(to: body.path, project: project)
        } catch { return .message(500, error.message) }
        return .message(200, "OK")
    }

    // MARK: One database

    private struct DatabaseRequest: Decodable {
        let database: String?
        let export_directory: String?
        let export_name: String?
    }

    private func read(
        _ request: PageRequest, _ project: String
    ) throws(RPCStatus) -> (database: DatabaseID, folder: String, name: String?) {
        if request.origin != nil {
            throw RPCStatus(.permissionDenied, "A web page may not start an export or import.")
        }
        let body: DatabaseRequest
        do {
            body = try JSONDecoder().decode(DatabaseRequest.self, from: Data(request.body))
        } catch {
            throw RPCStatus(
                .invalidArgument,
                """
                The body must be the JSON of an export request.
                """)
        }
        guard let folder = body.export_directory, folder.hasPrefix("/") else {
            throw RPCStatus(
                .invalidArgument, "export_directory must be an absolute path.")
        }
        let name = body.database ?? "projects/\(project)/databases/(default)"
        guard let database = try? DatabaseID(name: name), database.project.hasSameBytes(as: project)
        else {
            throw RPCStatus(
                .invalidArgument, "\"\(name)\" is not a database of the project \(project).")
        }
        return (database, folder, body.export_name)
    }

    private func export(_ request: PageRequest, _ project: String) async throws(RPCStatus) {
        let (database, folder, wanted) = try read(request, project)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
            isFolder.boolValue
        else { throw RPCStatus(.failedPrecondition, "export_directory must be a directory") }
        let name = wanted ?? "firestore_export_\(Int(Date().timeIntervalSince1970))"
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
            !name.utf8.contains(0), name.utf8.count <= 200
        else { throw RPCStatus(.invalidArgument, "export_name must be the name of a folder.") }
        do throws(ExportError) {
            _ = try await Exporter(whole.server, try WholeExport.context(project)).run(
                database, to: "\(folder)/\(name)", name: name)
        } catch { throw error.status }
    }

    private func bringIn(_ request: PageRequest, _ project: String) async throws(RPCStatus) {
        let (database, place, _) = try read(request, project)
        do throws(ExportError) {
            let importer = Importer(whole.server, try WholeExport.context(project))
            _ = try await importer.run(
                try ExportSource(place), project: project, database: database.database)
        } catch { throw error.status }
    }
}

extension ExportError {
    /// The status that the official emulator uses for the error.
    fileprivate var status: RPCStatus {
        let code: RPCStatus.Code =
            switch self {
            case .notAnExport, .holdsSomethingElse, .file, .otherDatabase: .failedPrecondition
            case .damaged, .outside, .unknownVersion, .accounts, .objects: .invalidArgument
            case .unreadable, .refused: .unavailable
            }
        return RPCStatus(code, message)
    }
}

extension PageAnswer {
    fileprivate static func message(_ status: Int, _ text: String) -> PageAnswer {
        .json(status, ["message": text])
    }

    fileprivate static func error(_ status: RPCStatus) -> PageAnswer {
        let answer = HTTPAnswer.error(status)
        guard case .data(let data) = answer.body else { return .message(500, status.message) }
        return PageAnswer(
            status: answer.status, type: answer.contentType, body: .bytes(Array(data)))
    }

    private static func json(_ status: Int, _ body: some Encodable) -> PageAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail, because there are only texts and numbers.
        let data = (try? encoder.encode(body)) ?? Data()
        return PageAnswer(status: status, type: "application/json", body: .bytes(Array(data)))
    }
}
