import Synchronization
import Testing
import TestSupport
import TidemarkResilience
import TidemarkTestKit

@testable import TidemarkImages

/// Tests the state that `TidemarkImage` shows, on a real pipeline. The view itself runs in
/// `Tools/AppleCheck`.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `A picture for views` {
    private func model(_ place: Place) -> PictureModel<PictureSize> {
        PictureModel(clock: place.clock) { $0.size }
    }

    @Test func `is loaded, and is there at once the next time`() async throws {
        let place = Place([Samples.address: Samples.photograph])
        let pipeline = try place.pipeline()
        let first = model(place)
        #expect(first.drawn(for: Samples.request, from: pipeline) == nil)
        await first.load(Samples.request, from: pipeline)
        #expect(first.drawn(for: Samples.request, from: pipeline) == Samples.box)
        #expect(first.error == nil)
        let second = model(place)
        #expect(second.drawn(for: Samples.request, from: pipeline) == Samples.box)
        #expect(second.drawn(for: nil, from: pipeline) == nil)
    }

    @Test func `stays until the same one is there at another size`() async throws {
        let place = Place([Samples.address: Samples.photograph])
        let pipeline = try place.pipeline()
        let model = model(place)
        await model.load(Samples.request, from: pipeline)
        let larger = PictureRequest(Samples.url, size: PictureSize(width: 100, height: 60))
        #expect(model.drawn(for: larger, from: pipeline) == Samples.box)
        await model.load(larger, from: pipeline)
        #expect(model.drawn(for: larger, from: pipeline) == larger.size)
        let other = PictureRequest(Samples.url, size: Samples.box, version: "2")
        #expect(model.drawn(for: other, from: pipeline) == nil)
    }

    @Test func `is asked for again when the server may be back`() async throws {
        let isBack = Mutex(false)
        let place = Place(
            ScriptedPictures { request, _ in
                isBack.withLock { $0 }
                    ? .file(Samples.photograph, request, maxAge: 3_600) : .init(status: 503)
            })
        var settings = ImageSettings()
        settings.retry.maxRetries = 0
        let pipeline = try place.pipeline(settings)
        let model = model(place)
        let loading = Task { await model.load(Samples.request, from: pipeline) }
        // Before that, the timeout of the attempt sleeps for the same time.
        try await until("the model has an error") { model.error != nil }
        await place.clock.sleepers(1)
        #expect(model.error == .serverFailed(status: 503, retryAfter: nil))
        isBack.withLock { $0 = true }
        place.clock.advance(by: PictureModel<PictureSize>.pause)
        await loading.value
        #expect(model.error == nil)
        #expect(model.drawn(for: Samples.request, from: pipeline) == Samples.box)
    }

    @Test func `that is not there is asked for once`() async throws {
        let place = Place([:])
        let pipeline = try place.pipeline()
        let model = model(place)
        await model.load(Samples.request, from: pipeline)
        #expect(model.error == .notFound)
        #expect(place.network.requests.count == 1)
    }
}
