import Foundation
import Testing
import TidemarkImages

// These are the examples of the articles and the doc comments, line by line. The tidy tests compare
// them.

@Suite(.timeLimit(.minutes(2))) struct `The article on pictures` {
    @Test func `loads, prefetches and finds people's pictures`() async throws {
        let server = SocketServer { _, _ in
            .init(fields: [("cache-control", "max-age=60")], body: Samples.photograph)
        }
        let caches = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-article-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: caches) }
        let url = try #require(URL(string: try await server.start()))
        let (next, addresses) = ([url], ["kim": url])

        let pipeline = try ImagePipeline(folder: caches.appendingPathComponent("pictures"))
        let size = PictureSize(width: 112, height: 112)
        let loaded = try await pipeline.picture(PictureRequest(url, size: size))
        #expect(loaded.origin == .network)

        let prefetch = pipeline.prefetch(next.map { PictureRequest($0, size: size) })
        prefetch.cancel()

        let people = ProfilePictures(pipeline) { id in
            ProfilePicture(addresses[id]!, version: "3")
        }
        let face = try await people.picture(of: "kim", size: size)
        #expect(face.picture.size == loaded.picture.size)

        let file = caches.appendingPathComponent("own.jpg")
        try Data(Samples.photograph).write(to: file)
        let own = try Picture(contentsOf: file, size: size)
        #expect(own == loaded.picture)
        try await server.stop()
    }
}
