import Foundation
import Synchronization
import TestSupport
import Testing
import TidemarkHTTPClient
import TidemarkResilience

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Over sockets of this machine.
@Suite(.timeLimit(.minutes(2))) struct HTTPSessionTests {
    private struct Enough: Error {}

    private let session = HTTPSession(maxRedirects: 5, silence: .seconds(1))
    private let patient = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    private func fails(
        _ code: URLError.Code, _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("the request succeeds")
        } catch { #expect((error as? URLError)?.code == code, "\(error)") }
    }

    @Test func `a request arrives with its fields and its body, and the answer comes`()
        async throws
    {
        try await RawServer.serve { request in
            RawServer.whole("201 Created", ["X-Part: a", "X-Part: b"], "got " + request.body)
        } _: { server, address in
            let parts = Mutex<[HTTPPart]>([])
            let fields = [(name: "content-type", value: "text/plain")]
            let request = HTTPRequest(
                "POST", address + "/a?b=c", fields: fields, body: Array("hello".utf8))
            try await session.send(request) { part in parts.withLock { $0.append(part) } }
            guard case .head(let status, let fields) = parts.withLock({ $0[0] }) else {
                Issue.record("the head is not first")
                return
            }
            #expect(status == 201)
            let joined = fields.filter { $0.name.lowercased() == "x-part" }
            #expect(joined.map(\.value) == ["a, b"])
            #expect(server.requests.map(\.line) == ["POST /a?b=c HTTP/1.1"])
            #expect(server.requests[0].fields["content-type"] == "text/plain")
            #expect(server.requests[0].body == "hello")
            let answer = try await session.answer(to: request, upTo: 100)
            #expect(String(decoding: answer.body, as: UTF8.self) == "got hello")
        }
        #expect(session.running == 0)
    }

    @Test func `cookies, passwords and answers are not kept`() async throws {
        try await RawServer.serve { _ in
            RawServer.whole(
                "200 OK", ["Set-Cookie: a=b", "Cache-Control: max-age=600", "ETag: \"1\""], "x")
        } _: { server, address in
            for _ in 1...3 {
                let answer = try await session.answer(to: HTTPRequest("GET", address), upTo: 1)
                #expect(answer.status == 200)
            }
            #expect(server.requests.count == 3)
            for request in server.requests {
                for name in ["cookie", "authorization", "if-none-match"] {
                    #expect(request.fields[name] == nil)
                }
            }
        }
    }

    @Test(arguments: [
        ("401 Unauthorized", 401, ["WWW-Authenticate: Basic realm=\"x\""], "no"),
        ("304 Not Modified", 304, ["ETag: \"1\""], ""), ("404 Not Found", 404, [], "no"),
        ("503 Service Unavailable", 503, ["Retry-After: 1"], "no"),
    ])
    func `each status is an answer`(
        line: String, status: Int, fields: [String], body: String
    ) async throws {
        try await RawServer.serve { _ in
            RawServer.whole(line, fields, body)
        } _: { _, address in
            let start = ContinuousClock.now
            for method in ["GET", "POST"] {
                let request = HTTPRequest(method, address, body: method == "POST" ? [1] : nil)
                let answer = try await patient.answer(to: request, upTo: 10)
                #expect(answer.status == status)
                #expect(String(decoding: answer.body, as: UTF8.self) == body)
            }
            #expect(ContinuousClock.now - start < .seconds(30))
            try await until("nothing runs") { patient.running == 0 }
        }
    }

    @Test func `a server that does not listen, and a name that is none, are errors at once`()
        async throws
    {
        let server = RawServer { _ in [] }
        let address = try await server.start()
        try await server.stop()
        await fails(.cannotConnectToHost) {
            _ = try await patient.answer(to: HTTPRequest("GET", address), upTo: 1)
        }
        for bad in ["", "no address", "/a", "http://"] {
            await fails(.badURL) {
                _ = try await patient.answer(to: HTTPRequest("GET", bad), upTo: 1)
            }
        }
    }

    @Test func `a silent server is given up, before an answer and within one`() async throws {
        for text in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
            try await RawServer.serve { _ in
                text.isEmpty ? [] : [.send(text)]
            } _: { _, address in
                await fails(.timedOut) {
                    _ = try await session.answer(to: HTTPRequest("GET", address), upTo: 10)
                }
            }
        }
    }

    @Test func `a limit of time holds for every request, also for one that drips`() async throws {
        for text in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
            try await RawServer.serve { _ in
                text.isEmpty ? [] : [.send(text)]
            } _: {
                server, address in
                // On a busy machine, the first limits pass before the server has the request.
                for limit in [0.2, 2, 20] where server.requests.isEmpty {
                    let start = ContinuousClock.now
                    await #expect(throws: AttemptTimedOut.self) {
                        try await withTimeout(.seconds(limit)) {
                            try await patient.answer(to: HTTPRequest("GET", address), upTo: 10)
                        }
                    }
                    #expect(ContinuousClock.now - start < .seconds(limit + 19))
                }
                #expect(server.requests.count == 1)
                try await until("all connections are closed") {
                    server.closedConnections == server.openedConnections
                }
            }
        }
        try await until("nothing runs") { patient.running == 0 }
    }

    @Test func `a cancelled task ends at once, and its connection too`() async throws {
        try await RawServer.serve { _ in
            []
        } _: { server, address in
            let task = Task {
                try await patient.answer(to: HTTPRequest("GET", address), upTo: 10)
            }
            try await until("the request is there") { server.requests.count == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await until("the connection is closed") { server.closedConnections == 1 }
        }
        try await until("nothing runs") { patient.running == 0 }
    }

    @Test func `an answer that is cut off, or none, is an error`() async throws {
        for text in ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "", "no answer\r\n\r\n"] {
            try await RawServer.serve { _ in
                [.send(text), .close]
            } _: { _, address in
                await #expect(throws: URLError.self) {
                    _ = try await patient.answer(
                        to: HTTPRequest("POST", address, body: [1]), upTo: 9)
                }
            }
        }
    }

    /// The server ends a connection when a second request comes, as a server that has just closed
    /// it would.
    @Test func `a body is not sent on a connection that was used before`() async throws {
        try await RawServer.serve { request in
            request.number == 1 ? RawServer.whole("200 OK", [], "here") : [.close]
        } _: { server, address in
            for _ in 0..<3 {
                let request = HTTPRequest("POST", address + RawServer.kept, body: [1])
                let answer = try await session.answer(to: request, upTo: 9)
                #expect(answer.status == 200 && answer.body == Array("here".utf8))
            }
            #expect(server.requests.map(\.number) == [1, 1, 1])
            try await until("the connections are closed") { server.closedConnections == 3 }
        }
        try await until("nothing runs") { session.running == 0 }
    }

    @Test func `a body that is too long is not taken`() async throws {
        try await RawServer.serve { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
                .sendBytes(count: 200_000),
            ]
        } _: { server, address in
            await fails(.dataLengthExceedsMaximum) {
                _ = try await patient.answer(to: HTTPRequest("GET", address), upTo: 100_000)
            }
            try await until("the connection is closed") { server.closedConnections == 1 }
        }
    }

    @Test func `a caller that is slower than the network receives the whole body`() async throws {
        let count = 64 << 20
        let times = 3
        try await RawServer.serve { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
                .sendBytes(count: count),
            ]
        } _: { server, address in
            for number in 1...times {
                let received = Mutex(0)
                try await patient.send(HTTPRequest("GET", address)) { part in
                    guard case .body(let bytes) = part else { return }
                    let start = received.withLock { $0 }
                    let wanted = RawServer.bytes(start..<start + bytes.count)
                    #expect(bytes == wanted, "wrong after \(start) bytes")
                    #expect(bytes.count <= 128 << 10)
                    received.withLock { $0 += bytes.count }
                    // The server does not finish if the client does not read.
                    try await until("all is sent") { server.sentBytes == number * count }
                }
                #expect(received.withLock { $0 } == count)
            }
            #expect(server.requests.map(\.number) == Array(1...times), "not on one connection")
        }
        #expect(patient.running == 0)
    }

    @Test func `other requests do not wait for a slow caller`() async throws {
        let count = 4 << 20
        try await RawServer.serve { request in
            if request.path == "/short" { return RawServer.whole("200 OK", [], "here") }
            return [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
                .sendBytes(count: count),
            ]
        } _: { server, address in
            let received = Mutex(0)
            try await patient.send(HTTPRequest("GET", address + "/long")) { part in
                guard case .body(let bytes) = part else { return }
                received.withLock { $0 += bytes.count }
                for session in [patient, session] {
                    let answer = try await session.answer(
                        to: HTTPRequest("GET", address + "/short"), upTo: 4)
                    #expect(answer.body == Array("here".utf8))
                }
            }
            #expect(received.withLock { $0 } == count)
        }
    }

    @Test func `what a slow caller does not take is bounded`() async throws {
        let count = 24 << 20
        let bounded = HTTPSession(maxRedirects: 0, silence: .seconds(60), waitingLimit: 8 << 20)
        try await RawServer.serve { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
                .sendBytes(count: count),
            ]
        } _: { _, address in
            await fails(.dataLengthExceedsMaximum) {
                try await bounded.send(HTTPRequest("GET", address)) { part in
                    guard case .body = part else { return }
                    // The connection may stay open: the server may have sent everything by then.
                    try await until("the request is over") { bounded.running == 0 }
                }
            }
        }
    }

    @Test func `a head comes before its body ends, and ends the request`() async throws {
        try await RawServer.serve { _ in
            [.send("HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nhalf")]
        } _: { server, address in
            let head = try await patient.head(of: HTTPRequest("POST", address, body: [1]))
            #expect(head.status == 200 && head.field("retry-after") == "7" && head.body.isEmpty)
            try await until("the connection is closed") { server.closedConnections == 1 }
        }
    }

    @Test func `the beginning of an answer comes before its end, also if that never comes`()
        async throws
    {
        try await RawServer.serve { request in
            [.send("HTTP/1.1 500 Broken\r\nContent-Length: 9\r\n\r\nhalf")]
                + (request.path == "/breaks" ? [.close] : [])
        } _: { server, address in
            for (path, limit, text) in [("/", 3, "hal"), ("/", 4, "half"), ("/breaks", 8, "half")] {
                let answer = try await patient.beginning(
                    of: HTTPRequest("POST", address + path, body: [1]), upTo: limit)
                #expect(answer.status == 500)
                #expect(String(decoding: answer.body, as: UTF8.self) == text)
            }
            try await until("all connections are closed") {
                server.closedConnections == server.openedConnections
            }
        }
    }

    @Test func `a cancelled beginning is an error, although its head has arrived`() async throws {
        let count = 64 << 20
        try await RawServer.serve { _ in
            [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(count + 1)\r\n\r\n"),
                .sendBytes(count: count),
            ]
        } _: { server, address in
            let task = Task {
                try await patient.beginning(of: HTTPRequest("GET", address), upTo: .max)
            }
            // Sockets hold less than this, so the head has arrived.
            try await until("half of the body is sent") { server.sentBytes >= count / 2 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `an error of the caller ends the request`() async throws {
        try await RawServer.serve { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")]
        } _: { server, address in
            await #expect(throws: Enough.self) {
                try await patient.send(HTTPRequest("GET", address)) { _ in throw Enough() }
            }
            try await until("the connection is closed") { server.closedConnections == 1 }
        }
    }
}

// MARK: - Redirects

extension HTTPSessionTests {
    private static func redirecting(_ request: RawServer.Request) -> [RawServer.Step] {
        switch request.path {
        case "/a/b": RawServer.whole("302 Found", ["Location: c"], "moved")
        case "/a/c": RawServer.whole("200 OK", [], "here")
        default: RawServer.whole("302 Found", ["Location: /around"])
        }
    }

    @Test func `redirects are followed`() async throws {
        try await RawServer.serve(Self.redirecting) { server, address in
            let answer = try await session.answer(to: HTTPRequest("GET", address + "/a/b"), upTo: 9)
            #expect(answer.status == 200 && answer.body == Array("here".utf8))
            #expect(server.requests.map(\.path) == ["/a/b", "/a/c"])
        }
    }

    @Test func `a session without redirects returns them`() async throws {
        try await RawServer.serve(Self.redirecting) { server, address in
            let request = HTTPRequest("POST", address + "/a/b", body: [1])
            let answer = try await patient.answer(to: request, upTo: 9)
            #expect(answer.status == 302 && answer.body == Array("moved".utf8))
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a circle of redirects ends`() async throws {
        try await RawServer.serve(Self.redirecting) { server, address in
            await fails(.httpTooManyRedirects) {
                _ = try await session.answer(to: HTTPRequest("GET", address), upTo: 9)
            }
            #expect(server.requests.count == 6)
        }
    }

    /// URLSession on Linux crashes on a cancellation between its question and the answer.
    @Test func `requests may be cancelled at every moment, and leave nothing`() async throws {
        try await RawServer.serve { request in
            switch request.path {
            case "/half": [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")]
            case "/cut": [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]
            default: Self.redirecting(request)
            }
        } _: { _, address in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<600 {
                    if number >= 20 { await group.next() }
                    group.addTask {
                        let path = ["/a/b", "/around", "/half", "/cut"][number % 4]
                        let task = Task {
                            _ = try await session.answer(
                                to: HTTPRequest("GET", address + path), upTo: 9)
                        }
                        for _ in 0..<(number % 50) { await Task.yield() }
                        if number % 3 != 0 { task.cancel() }
                        _ = await task.result
                    }
                }
            }
        }
        try await until("nothing runs") { session.running == 0 }
    }
}
