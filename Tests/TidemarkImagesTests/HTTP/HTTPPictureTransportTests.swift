import Foundation
import NIOHTTP1
import Testing
import TidemarkResilience

@testable import TidemarkImages

/// Tests the transport over sockets of this machine.
@Suite(.timeLimit(.minutes(2))) struct HTTPPictureTransportTests {
    private let quick = RetryPolicy(
        maxRetries: 3, initialDelay: .milliseconds(1), maximumDelay: .milliseconds(1),
        attemptTimeout: .seconds(10))

    private func loaded(
        _ settings: ImageSettings? = nil, size: PictureSize = Samples.box,
        _ answer: @escaping @Sendable (HTTPRequestHead, Int) -> SocketServer.Reply
    ) async throws -> (LoadedPicture, PictureFigures, [HTTPRequestHead]) {
        let server = SocketServer(answer)
        let url = try #require(URL(string: try await server.start()))
        let place = Place([:])
        let pipeline = try ImagePipeline(
            folder: place.folder, settings: settings ?? ImageSettings(retry: quick))
        do {
            let loaded = try await pipeline.picture(PictureRequest(url, size: size))
            try await server.stop()
            return (loaded, pipeline.figures, server.heads)
        } catch {
            try await server.stop()
            throw error
        }
    }

    @Test func `a picture comes over a socket`() async throws {
        let (loaded, figures, heads) = try await loaded { _, _ in
            .init(fields: [("cache-control", "max-age=60")], body: Samples.photograph)
        }
        #expect(loaded.picture.size == Samples.box)
        #expect(figures.bytesReceived == Samples.photograph.count)
        #expect(heads.count == 1 && heads[0].headers["accept-encoding"] == ["identity"])
    }

    @Test func `a connection that is cut is taken up again`() async throws {
        let file = Samples.photograph
        let (loaded, figures, heads) = try await loaded { head, number in
            let fields = [("etag", "\"1\"")]
            guard let range = head.headers.first(name: "range"),
                let start = Int(range.dropFirst(6).dropLast())
            else { return .init(fields: fields, body: file, cutAfter: 6_000) }
            let rest = Array(file[start...])
            return .init(
                status: .partialContent,
                fields: fields + [
                    ("content-range", "bytes \(start)-\(file.count - 1)/\(file.count)")
                ],
                body: rest)
        }
        #expect(loaded.picture.size == Samples.box)
        #expect(heads.count == 2 && heads[1].headers["if-range"] == ["\"1\""])
        #expect(figures.resumed == 1 && figures.bytesReceived == file.count)
    }

    @Test func `an answer that stops coming is cut off, and taken up again`() async throws {
        let file = Samples.photograph
        var settings = ImageSettings(retry: quick)
        settings.retry.attemptTimeout = .milliseconds(300)
        let (loaded, figures, _) = try await loaded(settings) { head, number in
            var reply = SocketServer.Reply(fields: [("etag", "\"1\"")], body: file)
            if number == 0 { reply.stopsAfter = 6_000 }
            if let range = head.headers.first(name: "range") {
                reply.status = .partialContent
                reply.fields.append(
                    ("content-range", "bytes 6000-\(file.count - 1)/\(file.count)"))
                reply.body = Array(file[6_000...])
                #expect(range == "bytes=6000-")
            }
            return reply
        }
        #expect(loaded.picture.size == Samples.box)
        #expect(figures.resumed == 1 && figures.sent == 2)
    }

    @Test func `redirects are followed, and errors told apart`() async throws {
        let (_, _, heads) = try await loaded { head, _ in
            head.uri == "/a"
                ? .init(status: .found, fields: [("location", "/b")]) : .init(body: Samples.jpeg)
        }
        #expect(heads.map(\.uri) == ["/a", "/b"])
        await #expect(throws: PictureError.refused(status: 403)) {
            try await loaded { _, _ in .init(status: .forbidden) }
        }
        await #expect(throws: PictureError.serverFailed(status: 503, retryAfter: nil)) {
            try await loaded { _, _ in .init(status: .serviceUnavailable) }
        }
    }

    @Test func `where nobody listens, that is said at once`() async throws {
        let server = SocketServer { _, _ in .init() }
        let address = try await server.start()
        try await server.stop()
        let pipeline = try ImagePipeline(
            folder: Place([:]).folder, settings: ImageSettings(retry: quick))
        let url = try #require(URL(string: address))
        await #expect(throws: PictureError.unreachable) {
            try await pipeline.picture(PictureRequest(url, size: Samples.box))
        }
        #expect(pipeline.figures.sent == 4)
    }
}
