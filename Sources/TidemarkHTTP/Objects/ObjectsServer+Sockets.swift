import Foundation
import Hummingbird
import NIOCore
import TidemarkModel
import TidemarkObjects
import TidemarkWire

extension ObjectsServer {
    /// The default limit of open connections.
    public static let maxConnections = 2_000

    /// Serves until the task is cancelled. Calls `ready` with the port when requests are accepted.
    ///
    /// A request's head must arrive in 30 s. An upload may take hours, but its connection is closed
    /// when no byte arrives for 2 minutes.
    ///
    /// - Parameters:
    ///   - host: The address to listen on. The server does not encrypt: if clients on other
    ///     machines use it, put a proxy with TLS in front.
    ///   - port: The port; 0 for a free port.
    ///   - web: The host names and pages that may call; nil allows those of loopback and of `host`.
    ///   - maxConnections: The maximum number of open connections. A further connection is closed
    ///     immediately.
    /// - Throws: ``ControlServerError`` if the server cannot listen at the address.
    public func run(
        host: String, port: Int, web: WebPolicy? = nil,
        maxConnections: Int = ObjectsServer.maxConnections,
        ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        let web = web ?? WebPolicy(listeningOn: host)
        let listener = PlainListener(host: host, port: port, maxConnections: maxConnections)
        try await listener.run(label: "tidemark.objects", ready: ready) { [self] request, context in
            await respond(request, context: context, web: web)
        }
    }

    private func respond(
        _ request: Request, context: ConnectionContext, web: WebPolicy
    ) async -> Response {
        var call = WebCall(request)
        // An upload has any content type.
        call.isAnyContentExpected = true
        call.isDownloadLink = request.isDownloadLink
        switch web.verdict(on: call) {
        case .preflight(let origin): return .objectsPreflight(request, origin: origin)
        case .refused(let refusal):
            let error = ObjectRefusal(
                refusal.status, reason: "forbidden", message: refusal.message)
            return Response(.firebase(error), toPageOf: nil, disk: disk)
        case .allowed(let origin):
            let asked = ObjectsRequest(request, on: context.channel, web: web)
            let answer = await faults.play(asked) { await self.answer($0) }
            var response = Response(answer, toPageOf: origin, disk: disk)
            if request.method == .head { response.body = ResponseBody() }
            return response
        }
    }

    /// Answers a request of one of the two APIs, in the form of that API.
    func answer(_ request: ObjectsRequest) async -> ObjectsAnswer {
        guard let target = ObjectsTarget(path: request.path) else {
            return .text("Not Found", status: 404)
        }
        switch target {
        case .server: return .json(.object(["emulator": .text("storage")]))
        case .firebase(let bucket, let name):
            let api = FirebaseObjects(server: self, request: request, bucket: bucket)
            do throws(ObjectRefusal) { return try await api.answer(name: name) } catch {
                return .firebase(error)
            }
        default:
            do throws(ObjectRefusal) {
                return try await CloudObjects(server: self, request: request).answer(target)
            } catch {
                if request.query["alt"] == "media" {
                    return .text(error.message, status: error.status)
                }
                return .cloud(error)
            }
        }
    }
}

extension Request {
    /// True if the address has a download token or a signature. Its holder may download the file.
    fileprivate var isDownloadLink: Bool {
        guard method == .get || method == .head else { return false }
        return ["token", "X-Goog-Signature"].contains { name in
            uri.queryParameters[Substring(name)]?.isEmpty == false
        }
    }
}

extension Response {
    /// The headers of answers that a page of Firebase's client may read. Source: storage A1.
    private static let exposed = """
        content-type, content-range, etag, x-firebase-storage-version, x-goog-upload-size-received, \
        x-goog-upload-url, x-goog-upload-command, x-goog-upload-header-content-length, \
        x-goog-upload-header-content-type, x-goog-upload-protocol, x-goog-upload-status, \
        x-goog-upload-chunk-granularity, x-goog-upload-control-url, x-gupload-uploadid, \
        x-guploader-uploadid, x-goog-generation, x-goog-metageneration, x-goog-hash, location, range
        """

    init(_ answer: ObjectsAnswer, toPageOf origin: String?, disk: DiskThreads) {
        var headers = HTTPFields.answer(toPageOf: origin)
        if origin != nil { headers[.accessControlExposeHeaders] = Self.exposed }
        headers[.cacheControl] = "no-store"
        for (name, value) in answer.headers {
            if let name = HTTPFields.Element.Name(name) { headers[name] = value }
        }
        let body = ResponseBody(answer, disk: disk)
        self.init(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// Answers a browser's preflight request.
    fileprivate static func objectsPreflight(_ request: Request, origin: String) -> Response {
        var response = preflight(request, origin: origin)
        let asks = HTTPFields.Element.Name("access-control-request-private-network")
        if let asks, request.headers[asks] == "true",
            let allows = HTTPFields.Element.Name("access-control-allow-private-network")
        {
            response.headers[allows] = "true"
        }
        return response
    }
}

extension ResponseBody {
    fileprivate init(_ answer: ObjectsAnswer, disk: DiskThreads) {
        switch answer.body {
        case .none: self.init()
        case .bytes(let bytes) where answer.fault == nil:
            self.init(byteBuffer: ByteBuffer(bytes: bytes))
        case .bytes(let bytes):
            self = .pieces(Int64(bytes.count), fault: answer.fault) { at, count in
                Array(bytes[Int(at)..<Int(at) + count])
            }
        case .blob(let reader, let first, let count):
            self = .pieces(count, fault: answer.fault) { at, count in
                try await disk.run { try reader.read(at: first + at, count: count) }
            }
        }
    }

    /// Reads a body piece by piece, as fast as the client takes the pieces.
    private static func pieces(
        _ count: Int64, fault: ObjectsAnswer.Fault?,
        read: @escaping @Sendable (_ at: Int64, _ count: Int) async throws -> [UInt8]
    ) -> ResponseBody {
        ResponseBody(contentLength: Int(count)) { writer in
            var at: Int64 = 0
            var fault = fault
            while at < count {
                if let due = fault, due.after <= at {
                    fault = nil
                    try await due.happen()
                }
                let end = min(count, fault?.after ?? count)
                let bytes = try await read(at, Int(min(Int64(BlobReader.pieceBytes), end - at)))
                // A file that is too short ends the connection, so the client sees the error.
                if bytes.isEmpty { throw ObjectRefusal.unavailable("A file is too short.") }
                try await writer.write(ByteBuffer(bytes: bytes))
                at += Int64(bytes.count)
            }
            try await writer.finish(nil)
        }
    }
}
