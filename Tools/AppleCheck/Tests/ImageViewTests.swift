import Foundation
import SwiftUI
import Synchronization
import Testing

@testable import TidemarkImages

/// Shows the real view in a window of the test.
@MainActor @Suite(.timeLimit(.minutes(1))) struct `A picture in a view` {
    /// Returns pictures when the test releases them.
    private final class Pictures: PictureSource {
        private struct State {
            var memory: [PictureRequest: Picture] = [:]
            var waiting: [PictureRequest: CheckedContinuation<Picture, any Error>] = [:]
            var cancelled = 0
        }

        private let state = Mutex(State())

        func keep(_ picture: Picture, _ request: PictureRequest) {
            state.withLock { $0.memory[request] = picture }
        }

        func cached(_ request: PictureRequest) -> Picture? { state.withLock { $0.memory[request] } }

        func picture(_ request: PictureRequest) async throws -> LoadedPicture {
            let picture = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    state.withLock { $0.waiting[request] = continuation }
                }
            } onCancel: {
                let waiting = state.withLock { state in
                    state.cancelled += 1
                    return state.waiting.removeValue(forKey: request)
                }
                waiting?.resume(throwing: CancellationError())
            }
            return LoadedPicture(picture: picture, origin: .network, isStale: false)
        }

        var asked: [PictureRequest] { state.withLock { Array($0.waiting.keys) } }
        var cancelled: Int { state.withLock(\.cancelled) }

        func answer(_ request: PictureRequest, _ result: Result<Picture, any Error>) {
            state.withLock { $0.waiting.removeValue(forKey: request) }?.resume(with: result)
        }
    }

    private let host = StubHost()
    private let pictures = Pictures()
    private let first = URL(string: "https://example.com/1.jpg")!
    private let second = URL(string: "https://example.com/2.jpg")!

    init() {
        host.environment.pictures = pictures
        host.environment.displayScale = 2
        host.size = CGSize(width: 40, height: 30)
    }

    private func request(_ url: URL, width: Int = 80, height: Int = 60) -> PictureRequest {
        PictureRequest(url, size: PictureSize(width: width, height: height))
    }

    private func picture(_ width: Int = 80, _ height: Int = 60) -> Picture {
        Picture(
            size: PictureSize(width: width, height: height),
            pixels: [UInt8](repeating: 1, count: 4 * width * height))
    }

    private func view(_ url: URL?) -> TidemarkImage<Text> {
        TidemarkImage(url: url, label: Text("a cat")) { error in
            Text(error == nil ? "waiting" : "failed")
        }
    }

    private func until(_ drawn: String...) async {
        while host.drawn != drawn { await Task.yield() }
    }

    private func untilAsked(_ request: PictureRequest) async {
        while !pictures.asked.contains(request) { await Task.yield() }
    }

    @Test func `is asked for at the pixels of its place`() async {
        host.show(view(first))
        #expect(host.drawn == ["waiting"])
        await untilAsked(request(first))
        pictures.answer(request(first), .success(picture()))
        await until("image 80×60 a cat")
    }

    @Test func `that is in memory is there with the first frame`() {
        pictures.keep(picture(), request(first))
        let before = host.drawings
        host.show(view(first))
        #expect(host.drawn == ["image 80×60 a cat"])
        #expect(host.drawings == before + 1)
    }

    @Test func `is another one at another address, and the same at another size`() async {
        pictures.keep(picture(), request(first))
        host.show(view(first))
        await untilAsked(request(first))
        pictures.answer(request(first), .success(picture()))
        while !pictures.asked.isEmpty { await Task.yield() }
        await until("image 80×60 a cat")
        host.size = CGSize(width: 30, height: 40)
        #expect(host.drawn == ["image 80×60 a cat"], "until the other size is there")
        await untilAsked(request(first, width: 60, height: 80))
        pictures.answer(request(first, width: 60, height: 80), .success(picture(60, 80)))
        await until("image 60×80 a cat")
        host.show(view(second))
        #expect(host.drawn == ["waiting"], "never another one's picture")
        host.show(view(nil))
        #expect(host.drawn == ["waiting"])
    }

    @Test func `says why it cannot be shown, and ends with its view`() async {
        host.show(view(first))
        await untilAsked(request(first))
        pictures.answer(request(first), .failure(PictureError.notFound))
        await until("failed")
        host.show(view(second))
        await until("waiting")
        await untilAsked(request(second))
        let cancelled = pictures.cancelled
        host.show(nil)
        while pictures.cancelled == cancelled { await Task.yield() }
    }

    /// The pictures of users, which a test changes.
    private final class People: ProfilePictureSource {
        private let table: Mutex<[String: ProfilePicture]>
        private let watchers = Mutex<
            [AsyncThrowingStream<ProfilePicture?, any Error>.Continuation]
        >(
            [])

        init(_ table: [String: ProfilePicture]) { self.table = Mutex(table) }

        func known(_ user: String) -> ProfilePicture?? {
            table.withLock { $0[user].map { .some($0) } }
        }

        func pictures(of user: String) -> AsyncThrowingStream<ProfilePicture?, any Error> {
            let picture = table.withLock { $0[user] }
            return AsyncThrowingStream { input in
                input.yield(picture)
                watchers.withLock { $0.append(input) }
            }
        }

        func change(to picture: ProfilePicture?) {
            for input in watchers.withLock(\.self) { input.yield(picture) }
        }
    }

    @Test func `of a user is the one of the profile, and another one after a change`() async {
        let people = People(["ann": ProfilePicture(first)])
        host.environment.profilePictures = people
        pictures.keep(picture(), request(first))
        host.show(TidemarkImage(user: "ann") { Text($0 == .noPicture ? "none" : "waiting") })
        #expect(host.drawn == ["image 80×60"], "with the first frame")
        while pictures.asked.isEmpty { await Task.yield() }
        people.change(to: ProfilePicture(second))
        await untilAsked(request(second))
        pictures.answer(request(second), .success(picture()))
        await until("image 80×60")
        people.change(to: nil)
        await until("none")
        host.show(TidemarkImage(user: "bob") { Text($0 == .noPicture ? "none" : "waiting") })
        await until("none")
    }

    @Test func `of a place without a size is not asked for`() async {
        for size in [CGSize.zero, CGSize(width: 10, height: CGFloat.infinity)] {
            #expect(
                PictureRequest(first, in: size, scale: 2, fit: .fill, version: nil) == nil)
        }
        let large = PictureRequest(
            first, in: CGSize(width: 1e9, height: 0.1), scale: 2, fit: .fill, version: nil)
        #expect(large?.size == PictureSize(width: 16_384, height: 1))
    }
}
