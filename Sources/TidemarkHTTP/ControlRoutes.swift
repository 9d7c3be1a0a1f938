import Foundation
import Hummingbird
import TidemarkModel
import TidemarkServer

/// What the control endpoint answers.
struct ControlRoutes: Sendable {
    private let server: FirestoreServer

    init(_ server: FirestoreServer) { self.server = server }

    func respond(to request: Request) async -> Response {
        do throws(Refusal) { return try await answer(request) } catch {
            return response(error.status, ["error": error.message])
        }
    }

    private func answer(_ request: Request) async throws(Refusal) -> Response {
        let path = request.uri.path
        switch (request.method, path) {
        case (.get, "/"): return response(.ok, ["status": "alive"])
        case (.get, "/tidemark/v1/meter"): return response(.ok, server.meter())
        case (.get, "/tidemark/v1/indexes"): return response(.ok, server.indexReport())
        case (.post, "/tidemark/v1/clock"): return try await setClock(request)
        case (_, "/"), (_, "/tidemark/v1/meter"), (_, "/tidemark/v1/clock"),
            (_, "/tidemark/v1/indexes"):
            throw Refusal(.methodNotAllowed, "\(path) does not know the method \(request.method).")
        default: throw Refusal(.notFound, "There is nothing at \(path).")
        }
    }

    private func setClock(_ request: Request) async throws(Refusal) -> Response {
        let bytes: [UInt8]
        do {
            let body = try await request.body.collect(upTo: ControlServer.maxBodyBytes)
            bytes = body.withUnsafeReadableBytes { [UInt8]($0) }
        } catch {
            let limit = ControlServer.maxBodyBytes
            throw Refusal(.contentTooLarge, "The body is larger than \(limit) bytes.")
        }
        let time = try ClockRequest.time(in: Data(bytes))
        do throws(RPCStatus) { try server.setClock(time) } catch {
            throw Refusal(.conflict, error.message)
        }
        return response(.ok, ["status": "set"])
    }

    private func response(_ status: HTTPResponse.Status, _ body: some Encodable) -> Response {
        // Texts and numbers: there is nothing in them that JSON cannot say.
        let data = (try? JSONEncoder().encode(body)) ?? Data()
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }
}

/// A status and a sentence.
struct Refusal: Error {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }
}

/// `{"time": microseconds since 1970, or null}`; null follows the machine's clock again.
struct ClockRequest: Decodable {
    let time: Timestamp?

    private enum Key: CodingKey { case time }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if try container.decodeNil(forKey: .time) {
            time = nil
            return
        }
        let microseconds = try container.decode(Int64.self, forKey: .time)
        guard (Timestamp.min.microseconds...Timestamp.max.microseconds).contains(microseconds)
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: container, debugDescription: "outside the years 1 to 9999")
        }
        time = Timestamp(microseconds: microseconds)
    }

    static func time(in data: Data) throws(Refusal) -> Timestamp? {
        guard let request = try? JSONDecoder().decode(ClockRequest.self, from: data) else {
            throw Refusal(
                .badRequest,
                """
                The body must be {"time": microseconds since 1970} with a time in the years 1 to \
                9999, or {"time": null}.
                """)
        }
        return request.time
    }
}
