import Hummingbird
import NIOCore
import TidemarkModel
import TidemarkObjects
import TidemarkWire

/// A request to the objects server.
struct ObjectsRequest: Sendable {
    /// The method, or the method that the header `X-HTTP-Method-Override` names.
    let method: String
    let path: String
    let query: ObjectsQuery
    /// The query as it was sent.
    let queryText: String
    let headers: HTTPFields
    private(set) var body: RequestBody
    let channel: any NIOCore.Channel
    /// The origin of links to this server. The host was checked by the ``WebPolicy``.
    let origin: String

    init(_ request: Request, on channel: any NIOCore.Channel, web: WebPolicy) {
        headers = request.headers
        method =
            request.headers.values(named: "x-http-method-override").first?.uppercased()
            ?? request.method.rawValue
        path = request.uri.path
        queryText = request.uri.query ?? ""
        query = ObjectsQuery(queryText)
        body = request.body
        self.channel = channel
        let own = channel.localAddress
        origin =
            request.head.authority.map { "http://\($0)" }
            ?? web.ownOrigin(address: own?.ipAddress, port: own?.port ?? 80)
    }

    /// A part of a batch.
    init(
        method: String, target: String, headers: HTTPFields, body: [UInt8],
        partOf batch: ObjectsRequest
    ) {
        self.method = method
        let sides = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(sides[0])
        queryText = sides.count > 1 ? String(sides[1]) : ""
        query = ObjectsQuery(queryText)
        self.headers = headers
        self.body = RequestBody(buffer: ByteBuffer(bytes: body))
        channel = batch.channel
        origin = batch.origin
    }

    /// Returns the request with a fault of its body.
    ///
    /// - Parameters:
    ///   - limit: The number of bytes before the fault.
    ///   - onLimit: Called once, if the body has as many bytes. An error ends the body.
    func with(limit: Int64, onLimit: @escaping @Sendable () async throws -> Void) -> ObjectsRequest
    {
        var request = self
        request.body = RequestBody(
            asyncSequence: FaultyBody(body: body, limit: limit, onLimit: onLimit))
        return request
    }

    /// - Parameter name: The name in lower case.
    func header(_ name: String) -> String? { headers.values(named: name).first }

    var authorization: String? { headers[.authorization] }
    var contentLength: Int64? { headers[.contentLength].flatMap { ByteNumber.parse($0) } }

    /// Reads a body of bounded size.
    ///
    /// - Throws: ``ObjectRefusal`` if the body is too large or ends early.
    func collected(upTo limit: Int = ObjectForm.maxBytes) async throws(ObjectRefusal) -> [UInt8] {
        let share = ObjectBodies.budget.share()
        do throws(BodyRefusal) {
            return try await body.collected(
                upTo: limit, share, on: channel, within: RequestPatience().body)
        } catch {
            switch error {
            case .tooLarge:
                throw ObjectRefusal(
                    413, reason: "uploadTooLarge", message: "The body is too large.")
            case .cutOff: throw ObjectRefusal.cutOff
            case .noRoom: throw .unavailable("The bodies of other requests take all room.")
            }
        }
    }
}

/// The answer to a request.
struct ObjectsAnswer: Sendable {
    enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// The bytes of an object.
        case blob(BlobReader, first: Int64, count: Int64)
    }

    /// A fault in the bytes of the body.
    struct Fault: Sendable {
        /// The number of bytes before the fault. The body has more.
        let after: Int64
        /// Called at the fault. An error ends the connection.
        let happen: @Sendable () async throws -> Void
    }

    var status = 200
    var headers: [(name: String, value: String)] = []
    var body = Body.none
    var fault: Fault?

    /// The number of bytes of the body.
    var count: Int64 {
        switch body {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .blob(_, _, let count): count
        }
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    static func json(_ value: JSONValue, status: Int = 200) -> ObjectsAnswer {
        ObjectsAnswer(
            status: status, headers: [("Content-Type", "application/json; charset=utf-8")],
            body: .bytes(JSONWriter.bytes(of: value)))
    }

    static func text(_ text: String, status: Int) -> ObjectsAnswer {
        ObjectsAnswer(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
            body: .bytes(Array(text.utf8)))
    }

    /// Returns an error in the form of Firebase's API.
    static func firebase(_ refusal: ObjectRefusal) -> ObjectsAnswer {
        if refusal.status == 304 { return ObjectsAnswer(status: 304) }
        return .json(
            .object([
                "error": .object([
                    "code": .integer(Int64(refusal.status)), "message": .text(refusal.message),
                ])
            ]), status: refusal.status)
    }

    /// Returns an error in the form of Cloud Storage's API.
    static func cloud(_ refusal: ObjectRefusal) -> ObjectsAnswer {
        if refusal.status == 304 { return ObjectsAnswer(status: 304) }
        let error: JSONValue = .object([
            "message": .text(refusal.message), "domain": .text("global"),
            "reason": .text(refusal.reason),
        ])
        return .json(
            .object([
                "error": .object([
                    "code": .integer(Int64(refusal.status)), "message": .text(refusal.message),
                    "errors": .list([error]),
                ])
            ]), status: refusal.status)
    }

    func adding(_ name: String, _ value: String?) -> ObjectsAnswer {
        guard let value else { return self }
        var answer = self
        answer.headers.append((name, value))
        return answer
    }
}
