import Foundation
import Testing
import TidemarkImages

@testable import MessagesCore

@Suite(.timeLimit(.minutes(2))) struct `A thumbnail` {
    /// Serves one file for every request.
    private struct OnePicture: PictureTransport {
        let file: [UInt8]

        func get(
            _ request: PictureGet,
            _ receive: @escaping @Sendable (PictureAnswer) async throws -> Void
        ) async throws {
            try await receive(
                .head(status: 200, HTTPFields([(name: "content-type", value: "image/jpeg")])))
            try await receive(.body(file))
        }
    }

    @Test func `is decoded at the size of its place`() async throws {
        let full = PictureSize(width: 1_200, height: 900)
        let pixels = [UInt8](repeating: 200, count: 4 * 1_200 * 900)
        // On Apple's systems, the tests of this package have no encoder.
        guard let file = PictureEncoder.jpeg(pixels, full) else { return }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-thumbnails-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipeline = try ImagePipeline(
            folder: folder, environment: ImageEnvironment(transport: OnePicture(file: file)))
        let thumbnails = Thumbnails(pipeline, scale: 1)
        var conversation = Conversation(members: ["ada"], title: "Grace")
        #expect(await thumbnails.picture(of: conversation) == nil, "it has none")
        conversation.picture = "https://example.org/grace.jpg"
        let picture = try #require(await thumbnails.picture(of: conversation))
        #expect(picture.width == Thumbnails.side && picture.height == Thumbnails.side)
        #expect(picture.byteCount * 20 <= pixels.count, "at least 95 % less memory")
    }
}
