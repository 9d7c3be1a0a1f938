import Foundation
import Hummingbird
import NIOCore
import TidemarkREST

private typealias FieldName = HTTPFields.Element.Name

extension RESTRequest {
    init(_ request: Hummingbird.Request, body: [UInt8], isMultiplexed: Bool) {
        var headers: [String: String] = [:]
        for field in request.headers { headers[field.name.canonicalName] = field.value }
        self.init(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query,
            headers: headers, body: body, isMultiplexed: isMultiplexed)
    }
}

extension Response {
    /// - Parameters:
    ///   - origin: The origin of the calling page; nil if a program calls.
    ///   - executor: Produces the parts of a long answer.
    init(
        _ answer: HTTPAnswer, toPageOf origin: String?, partsOn executor: any TaskExecutor
    ) {
        let isPlain = origin == nil && answer.contentType == HTTPAnswer.json
        var headers: HTTPFields =
            isPlain ? .plainAnswer : .firestoreAnswer(toPageOf: origin, answer.contentType)
        for (name, value) in answer.headers {
            if let name = FieldName(name) { headers[name] = value }
        }
        let body: ResponseBody =
            switch answer.body {
            case .data(let data): ResponseBody(byteBuffer: ByteBuffer(bytes: data))
            case .parts(let parts): .parts(parts, on: executor)
            }
        self.init(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// The answer to a gRPC call on a connection without gRPC: a status in gRPC's form.
    static let gRPCIsElsewhere = Response(
        status: .ok, headers: [.contentType: "application/grpc"],
        body: ResponseBody { writer in
            var trailers = HTTPFields()
            // UNIMPLEMENTED.
            for (name, value) in [
                ("grpc-status", "12"),
                ("grpc-message", "On this port gRPC works without TLS only. TLS is for browsers."),
            ] {
                if let name = FieldName(name) { trailers[name] = value }
            }
            try await writer.finish(trailers)
        })

    /// Answers a browser's preflight request in the same way as Firebase's emulator. Source:
    /// webchannel-rest 2.
    static func firestorePreflight(_ request: Hummingbird.Request, origin: String) -> Response {
        var headers = HTTPFields.answer(toFirebasePageOf: origin)
        headers[.accessControlAllowMethods] = "DELETE,GET,HEAD,PATCH,POST,PUT"
        headers[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
        headers[.accessControlMaxAge] = "3600"
        let asks = FieldName("access-control-request-private-network")
        if let asks, request.headers[asks] == "true",
            let allows = FieldName("access-control-allow-private-network")
        {
            headers[allows] = "true"
        }
        return Response(status: .ok, headers: headers)
    }
}

extension HTTPFields {
    /// The headers of most answers: JSON for a program. They are made only once, because each field
    /// is checked when it is set.
    fileprivate static let plainAnswer = firestoreAnswer(toPageOf: nil, HTTPAnswer.json)

    fileprivate static func firestoreAnswer(
        toPageOf origin: String?, _ contentType: String
    ) -> HTTPFields {
        var headers = answer(toFirebasePageOf: origin)
        headers[.contentType] = contentType
        headers[.cacheControl] = "no-store"
        return headers
    }

    /// Returns headers for pages of Google's clients. Their calls carry credentials, and a browser
    /// then requires the page's origin by name.
    fileprivate static func answer(toFirebasePageOf origin: String?) -> HTTPFields {
        var headers = HTTPFields.answer(toPageOf: origin)
        guard origin != nil else { return headers }
        headers[.accessControlAllowCredentials] = "true"
        headers[.accessControlExposeHeaders] =
            "x-client-wire-protocol, x-http-session-id, x-http-initial-response"
        return headers
    }
}

extension ResponseBody {
    /// Produces parts on an executor other than the connection's event loop, because a part can be
    /// large.
    fileprivate static func parts(
        _ parts: any HTTPParts, on executor: any TaskExecutor
    ) -> ResponseBody {
        ResponseBody { writer in
            defer { parts.close() }
            while let data = await withTaskExecutorPreference(
                executor, operation: { await parts.next() })
            { try await writer.write(ByteBuffer(bytes: data)) }
            try await writer.finish(nil)
        }
    }
}
