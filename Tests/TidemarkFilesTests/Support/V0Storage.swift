import Foundation
import HTTPTesting
import Hummingbird
import Synchronization

/// A small Storage that speaks Firebase's protocol (v0) on a port of this machine: resumable
/// uploads, metadata and deletes, with faults. Written for tests, from the protocol alone.
final class V0Storage: Sendable {
    struct Session {
        var bucket: String
        var name: String
        var declared: Int
        var contentType: String
        var bytes = Data()
        var isFinal = false
    }

    struct Object {
        var bytes: Data
        var contentType: String
    }

    /// The reaction to one request.
    enum Fault {
        /// The request fails and has no effect.
        case before(Int)
        /// The request takes effect, and its answer is lost on the way.
        case after
        /// Storage has lost the session.
        case sessionLost
    }

    struct Seen {
        var method: String
        var path: String
        var command: String?
        var authorization: String?
        var count: Int
    }

    struct State {
        var sessions: [String: Session] = [:]
        var objects: [String: Object] = [:]
        var requests: [Seen] = []
        var completions: [String: Int] = [:]
        var fault: (@Sendable (Seen, Int) -> Fault?)?
        var made = 0
    }

    let state = Mutex(State())

    var objects: [String: Object] { state.withLock { $0.objects } }
    var requests: [Seen] { state.withLock { $0.requests } }
    /// The number of bytes of all chunks, also of chunks without an effect.
    var bytesReceived: Int {
        requests.filter { $0.command?.hasPrefix("upload") == true }.reduce(0) { $0 + $1.count }
    }

    func setFault(_ fault: (@Sendable (Seen, Int) -> Fault?)?) {
        state.withLock { $0.fault = fault }
    }

    /// Serves while `body` runs, and passes the address to `body`.
    func serve(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        let router = Router()
        for method in [HTTPRequest.Method.get, .post, .delete] {
            router.on("/**", method: method) { [self] request, context in
                let buffer = try await request.body.collect(upTo: 64 << 20)
                return answer(request, Data(buffer.readableBytesView), context)
            }
        }
        try await withServer(router) { try await body("http://" + $0) }
    }

    private func answer(
        _ request: Request, _ body: Data, _ context: BasicRequestContext
    ) -> Response {
        func field(_ name: String) -> String? { request.headers[.init(name)!] }
        let url = URLComponents(string: request.uri.string)!
        let seen = Seen(
            method: request.method.rawValue, path: request.uri.string,
            command: field("x-goog-upload-command"), authorization: field("authorization"),
            count: body.count)
        let host = request.head.authority ?? ""
        return state.withLock { state in
            let fault = state.fault?(seen, state.requests.count)
            state.requests.append(seen)
            if case .before(let status)? = fault { return Self.empty(status) }
            if case .sessionLost? = fault { state.sessions = [:] }
            let answer: Response
            switch (seen.method, seen.command) {
            case ("POST", "start"?):
                answer = Self.start(&state, url, host, field, context)
            case ("POST", let command?):
                let offset = field("x-goog-upload-offset").flatMap(Int.init) ?? 0
                answer = Self.command(command, &state, url, offset, body)
            default: answer = Self.object(seen.method, &state, url)
            }
            if case .after? = fault { return Self.empty(503) }
            return answer
        }
    }

    private static func start(
        _ state: inout State, _ url: URLComponents, _ host: String, _ field: (String) -> String?,
        _ context: BasicRequestContext
    ) -> Response {
        let name = url.queryItems?.first { $0.name == "name" }?.value ?? ""
        let bucket = url.path.split(separator: "/")[2]
        state.made += 1
        let id = "s\(state.made)"
        state.sessions[id] = Session(
            bucket: String(bucket), name: name,
            declared: Int(field("x-goog-upload-header-content-length") ?? "") ?? -1,
            contentType: field("x-goog-upload-header-content-type") ?? "")
        return Response(
            status: .ok,
            headers: [
                .init("x-goog-upload-status")!: "active",
                .init("x-goog-upload-url")!: "http://\(host)/session?upload_id=\(id)",
            ])
    }

    private static func command(
        _ command: String, _ state: inout State, _ url: URLComponents, _ offset: Int, _ body: Data
    ) -> Response {
        let id = url.queryItems?.first { $0.name == "upload_id" }?.value ?? ""
        guard var session = state.sessions[id] else { return empty(404) }
        defer { if state.sessions[id] != nil { state.sessions[id] = session } }
        let key = session.bucket + "/" + session.name
        switch command {
        case "cancel":
            state.sessions[id] = nil
            return empty(200)
        case "query": break
        case "upload", "upload, finalize":
            if session.isFinal { break }
            guard session.bytes.count == offset else { return status("active", 400) }
            session.bytes += body
            if command == "upload" { break }
            guard session.bytes.count == session.declared else { return status("active", 400) }
            session.isFinal = true
            state.completions[key, default: 0] += 1
            state.objects[key] = Object(bytes: session.bytes, contentType: session.contentType)
        default: return empty(400)
        }
        return status(
            session.isFinal ? "final" : "active", 200, received: session.bytes.count,
            session.isFinal ? state.objects[key] : nil)
    }

    private static func object(
        _ method: String, _ state: inout State, _ url: URLComponents
    ) -> Response {
        let parts = url.percentEncodedPath.split(separator: "/")
        if parts.count == 4 { return list(state, String(parts[2]), url) }
        guard parts.count == 5, let name = parts[4].removingPercentEncoding else {
            return empty(400)
        }
        let key = parts[2] + "/" + name
        guard let object = state.objects[String(key)] else { return empty(404) }
        if method == "DELETE" {
            state.objects[String(key)] = nil
            return empty(204)
        }
        if url.queryItems?.contains(.init(name: "alt", value: "media")) == true {
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: object.bytes)))
        }
        return status(nil, 200, object, name: name)
    }

    /// Lists two names at a time: objects, and folders as their objects come.
    private static func list(_ state: State, _ bucket: String, _ url: URLComponents) -> Response {
        func value(_ name: String) -> String {
            url.queryItems?.first { $0.name == name }?.value ?? ""
        }
        let (prefix, token) = (value("prefix"), value("pageToken"))
        let names = state.objects.keys.filter { $0.hasPrefix("\(bucket)/\(prefix)") }
            .map { String($0.dropFirst(bucket.count + 1)) }.sorted().filter { $0 > token }
        var (items, prefixes): ([[String: String]], [String]) = ([], [])
        for name in names.prefix(2) {
            let rest = name.dropFirst(prefix.count)
            if let slash = rest.firstIndex(of: "/") {
                let folder = prefix + rest[...slash]
                if !prefixes.contains(folder) { prefixes.append(folder) }
            } else {
                items.append(["name": name, "bucket": bucket])
            }
        }
        var body: [String: Any] = ["prefixes": prefixes, "items": items]
        if names.count > 2 { body["nextPageToken"] = names[1] }
        let json = try! JSONSerialization.data(withJSONObject: body)
        return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(bytes: json)))
    }

    private static func empty(_ status: Int) -> Response { Response(status: .init(code: status)) }

    private static func status(
        _ state: String?, _ code: Int, received: Int? = nil, _ object: Object? = nil,
        name: String = "x"
    ) -> Response {
        var response = empty(code)
        if let state { response.headers[.init("x-goog-upload-status")!] = state }
        if let received {
            response.headers[.init("x-goog-upload-size-received")!] = "\(received)"
        }
        if let object {
            let facts = [
                "name": name, "bucket": "bucket", "size": "\(object.bytes.count)",
                "md5Hash": MD5.base64(object.bytes), "generation": "7",
                "contentType": object.contentType, "timeCreated": "2026-11-28T10:00:00.250Z",
                "downloadTokens": "t1,t2",
            ]
            let json = try! String(decoding: JSONEncoder().encode(facts), as: UTF8.self)
            response.body = .init(byteBuffer: ByteBuffer(string: json))
        }
        return response
    }
}
