import Foundation
import Testing
import TestSupport
import TidemarkResilience
import TidemarkTestKit

@testable import TidemarkImages

@Suite(.timeLimit(.minutes(2))) struct ImagePipelineTests {
    private typealias Reply = ScriptedPictures.Reply

    private func error(
        _ body: @Sendable () async throws -> some Sendable
    ) async -> PictureError? {
        do { _ = try await body() } catch { return error as? PictureError }
        return nil
    }

    @Test func `memory, then disk, then network`() async throws {
        let place = Place([Samples.address: Samples.photograph])
        var pipeline = try place.pipeline()
        #expect(pipeline.cached(Samples.request) == nil)
        let first = try await pipeline.picture(Samples.request)
        #expect(first.origin == .network && first.picture.size == Samples.box)
        #expect(try await pipeline.picture(Samples.request).origin == .memory)
        #expect(pipeline.cached(Samples.request) == first.picture)
        await pipeline.settle()
        pipeline = try place.pipeline()
        let second = try await pipeline.picture(Samples.request)
        #expect(second.origin == .disk && second.picture == first.picture)
        #expect(pipeline.figures.smallFiles == 1 && pipeline.figures.decodes == 0)
        #expect(place.network.requests.count == 1)
    }

    @Test func `another size is decoded from the same file`() async throws {
        let place = Place([Samples.address: Samples.photograph])
        let pipeline = try place.pipeline()
        async let small = pipeline.picture(Samples.request)
        let box = PictureSize(width: 100, height: 60)
        async let large = pipeline.picture(PictureRequest(Samples.url, size: box))
        #expect(try await small.picture.size == Samples.box)
        #expect(try await large.picture.size == box)
        #expect(place.network.requests.count == 1)
        #expect(pipeline.figures.decodes == 2)
    }

    @Test func `nine views share one download and one decode`() async throws {
        let gate = Gate()
        let place = Place([Samples.address: Samples.photograph], gate: gate)
        let pipeline = try place.pipeline()
        let views = (0..<9).map { _ in Task { try await pipeline.picture(Samples.request) } }
        await place.network.requests(1)
        gate.open()
        for view in views { #expect(try await view.value.picture.size == Samples.box) }
        #expect(place.network.requests.count == 1)
        #expect(pipeline.figures.decodes == 1 && pipeline.figures.downloads == 1)
    }

    @Test func `one that is cancelled leaves the others their work`() async throws {
        let gate = Gate()
        let place = Place([Samples.address: Samples.photograph], gate: gate)
        let pipeline = try place.pipeline()
        let views = (0..<9).map { _ in Task { try await pipeline.picture(Samples.request) } }
        await place.network.requests(1)
        try await until("9 callers wait for the picture") {
            pipeline.callers(for: Samples.request) == 9
        }
        for view in views[..<8] { view.cancel() }
        for view in views[..<8] {
            await #expect(throws: CancellationError.self) { try await view.value }
        }
        gate.open()
        #expect(try await views[8].value.origin == .network)
        #expect(place.network.requests.count == 1 && place.network.cancelled == 0)
    }

    @Test func `when the last one leaves, the download ends`() async throws {
        let place = Place([Samples.address: Samples.photograph], gate: Gate())
        let pipeline = try place.pipeline()
        let views = (0..<3).map { _ in Task { try await pipeline.picture(Samples.request) } }
        await place.network.requests(1)
        for view in views { view.cancel() }
        await place.network.cancellations(1)
        for view in views { _ = try? await view.value }
        // A cancelled view does not wait for the end of its download.
        try await until("the pipeline has nothing to do") { pipeline.load == (0, 0) }
        #expect(pipeline.figures.failures == 0, "nobody wanted it any more: nothing failed")
        #expect(pipeline.load == (0, 0))
    }

    @Test func `a download that breaks off is resumed where it was`() async throws {
        let file = Samples.photograph
        let network = ScriptedPictures { request, number in
            .file(file, request, breaksAfter: number == 0 ? 4_000 : number == 1 ? 3_000 : nil)
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let loading = Task { try await pipeline.picture(Samples.request) }
        for _ in 0..<2 {
            await place.untilPause()
            place.clock.advance(by: .seconds(60))
        }
        #expect(try await loading.value.picture.size == Samples.box)
        #expect(network.fields(1)["range"] == "bytes=4000-")
        #expect(network.fields(2)["range"] == "bytes=7000-")
        #expect(pipeline.figures.resumed == 2)
        #expect(pipeline.figures.bytesReceived == file.count, "no byte twice")
        let whole = Place([Samples.address: file])
        let same = try await whole.pipeline().picture(Samples.request)
        #expect(try await loading.value.picture == same.picture)
    }

    @Test func `what was given up halfway is resumed by the next who asks`() async throws {
        let file = Samples.photograph
        let gate = Gate()
        let network = ScriptedPictures { request, number in
            .file(file, request, breaksAfter: number == 0 ? 5_000 : nil)
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let first = Task { try await pipeline.picture(Samples.request) }
        await place.untilPause()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        _ = try await pipeline.picture(Samples.request)
        #expect(network.fields(1)["range"] == "bytes=5000-")
    }

    @Test func `a picture that changed meanwhile is taken whole`() async throws {
        let (old, new) = (Samples.photograph(1), Samples.photograph(2))
        let network = ScriptedPictures { request, number in
            number == 0
                ? .file(old, request, tag: "\"1\"", breaksAfter: 5_000)
                : .file(new, request, tag: "\"2\"")
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let loading = Task { try await pipeline.picture(Samples.request) }
        await place.untilPause()
        place.clock.advance(by: .seconds(60))
        let wanted = try await Place([Samples.address: new]).pipeline().picture(Samples.request)
        #expect(try await loading.value.picture == wanted.picture)
    }

    @Test func `trouble is tried again, and then said in a sentence`() async throws {
        let network = ScriptedPictures { request, number in
            number < 2 ? Reply(status: 503) : .file(Samples.jpeg, request)
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let loading = Task { try await pipeline.picture(Samples.request) }
        for _ in 0..<2 {
            await place.untilPause()
            place.clock.advance(by: .seconds(60))
        }
        _ = try await loading.value
        #expect(network.requests.count == 3)

        let dead = Place(ScriptedPictures { _, _ in Reply(breaksAfter: 0) })
        let other = try dead.pipeline(ImageSettings(retry: .none))
        let failed = await error { try await other.picture(Samples.request) }
        #expect(failed == .unreachable && failed?.recovery == .waitForNetwork)
        #expect(failed?.message == "This picture couldn't be loaded. Check your connection.")
    }

    @Test func `while a retry waits, another picture has its turn`() async throws {
        let network = ScriptedPictures { request, number in
            request.address == Samples.address && number == 0
                ? Reply(status: 503) : .file(Samples.jpeg, request)
        }
        let place = Place(network)
        let pipeline = try place.pipeline(
            ImageSettings(traffic: PictureTraffic(downloads: 1, prefetches: 1)))
        let waiting = Task { try await pipeline.picture(Samples.request) }
        await place.untilPause()
        let other = PictureRequest(URL(string: "http://pictures.test/b")!, size: Samples.box)
        _ = try await pipeline.picture(other)
        place.clock.advance(by: .seconds(60))
        _ = try await waiting.value
    }

    @Test func `what cannot be shown is not asked for again and again`() async throws {
        let place = Place([:])
        let pipeline = try place.pipeline()
        for _ in 0..<3 {
            #expect(await error { try await pipeline.picture(Samples.request) } == .notFound)
        }
        #expect(place.network.requests.count == 1)
        place.pass(61)
        _ = await error { try await pipeline.picture(Samples.request) }
        #expect(place.network.requests.count == 2)
    }

    @Test func `what is no picture, or too large, is not downloaded to its end`() async throws {
        let page = Array(String(repeating: "<html> sign in here ", count: 2_000).utf8)
        var bomb = Array(Samples.png[..<16]) + [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]
        bomb += Array(Samples.png[24..<33]) + [UInt8](repeating: 0, count: 50_000)
        let size = PictureSize(width: 30_000, height: 30_000)
        for (file, wanted) in [(page, PictureError.notAPicture), (bomb, .tooManyPixels(size))] {
            let place = Place([Samples.address: file])
            let pipeline = try place.pipeline()
            #expect(await error { try await pipeline.picture(Samples.request) } == wanted)
            #expect(pipeline.figures.bytesReceived == 1_000, "the first part")
            #expect(try place.files().isEmpty)
        }
        let place = Place([Samples.address: Samples.photograph])
        let pipeline = try place.pipeline(ImageSettings(limits: PictureLimits(maximumBytes: 2_000)))
        let count = Samples.photograph.count
        #expect(
            await error { try await pipeline.picture(Samples.request) } == .tooManyBytes(count))
        #expect(pipeline.figures.bytesReceived == 0)
    }

    @Test func `addresses that nobody can ask for are refused`() async throws {
        let pipeline = try Place([:]).pipeline()
        for address in ["file:///etc/passwd", "data:image/png,x", "http:", "ftp://a/b"] {
            let request = PictureRequest(try #require(URL(string: address)), size: Samples.box)
            #expect(await error { try await pipeline.picture(request) } == .badURL)
        }
    }

    @Test func `no-store is shown and not kept`() async throws {
        let place = Place(
            ScriptedPictures { _, _ in
                Reply(fields: [("cache-control", "no-store")], body: Samples.jpeg)
            })
        let pipeline = try place.pipeline()
        for count in 1...2 {
            #expect(try await pipeline.picture(Samples.request).origin == .network)
            #expect(place.network.requests.count == count)
        }
        await pipeline.settle()
        #expect(try place.files().isEmpty && pipeline.memoryUse == (0, 0))
    }

    @Test func `a full disk, or none, still shows pictures`() async throws {
        let place = Place([Samples.address: Samples.jpeg])
        let pipeline = try place.pipeline(ImageSettings(diskBytes: 0))
        _ = try await pipeline.picture(Samples.request)
        #expect(try await pipeline.picture(Samples.request).origin == .memory)
        #expect(try place.files().isEmpty)
    }

    @Test func `a disk that cannot be written is said, and tried again when it can`() async throws {
        let place = Place([Samples.address: Samples.jpeg])
        let pipeline = try place.pipeline()
        try FileManager.default.removeItem(at: place.folder)
        let failed = await error { try await pipeline.picture(Samples.request) }
        #expect(failed == .storageFailed && failed?.recovery == .freeStorage)
        #expect(place.network.requests.count == 1, "another try would find the same disk")
        let unfinished = place.folder.appendingPathComponent("unfinished")
        try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: true)
        #expect(try await pipeline.picture(Samples.request).origin == .network)
    }

    @Test func `every error has a sentence for a person`() {
        let size = PictureSize(width: 1, height: 1)
        let errors: [PictureError] = [
            .badURL, .notFound, .refused(status: 403), .unreachable,
            .serverFailed(status: 503, retryAfter: .seconds(7)), .tooManyBytes(nil),
            .tooManyPixels(size), .tooMuchMemory(size), .notAPicture, .damaged,
            .unsupported("animated WebP"), .storageFailed, .tooManyRequests, .noPicture,
        ]
        for error in errors {
            #expect(error.message.hasSuffix("."))
            #expect(!error.message.contains { $0.isNumber }, "no codes: \(error.message)")
        }
        #expect(errors[4].recovery == .retry(after: .seconds(7)))
        #expect(errors[3].recovery == .waitForNetwork && errors[1].recovery == .showPlaceholder)
    }

    @Test func `prefetched pictures are there when they are wanted`() async throws {
        let place = Place([Samples.address: Samples.jpeg])
        let pipeline = try place.pipeline()
        await pipeline.prefetch([Samples.request]).finished()
        #expect(try await pipeline.picture(Samples.request).origin == .memory)
    }

    @Test func `a prefetch is bounded`() async throws {
        let place = Place([:])
        let pipeline = try place.pipeline()
        let requests = (0..<ImagePipeline.mostPrefetched + 5).map {
            PictureRequest(URL(string: "http://pictures.test/\($0)")!, size: Samples.box)
        }
        await pipeline.prefetch(requests).finished()
        #expect(pipeline.figures.requests == ImagePipeline.mostPrefetched)
    }

    @Test func `a prefetch that is cancelled leaves what somebody else wants`() async throws {
        let gate = Gate()
        let urls = (0..<20).map { "http://pictures.test/\($0)" }
        let files = Dictionary(uniqueKeysWithValues: urls.map { ($0, Samples.jpeg) })
        let place = Place(files, gate: gate)
        let pipeline = try place.pipeline()
        let requests = urls.map { PictureRequest(URL(string: $0)!, size: Samples.box) }
        let prefetch = pipeline.prefetch(requests)
        await place.network.requests(2)
        let seen = Task { try await pipeline.picture(requests[0]) }
        // The third download belongs to `seen`. Prefetching runs at most two downloads.
        await place.network.requests(2)
        try await until("5 requests are made") { pipeline.figures.requests >= 5 }
        prefetch.cancel()
        await prefetch.finished()
        gate.open()
        #expect(try await seen.value.origin == .network)
        #expect(place.network.requests.count <= 3, "those that waited were not begun")
    }

    @Test func `memory is bounded, and can be given back`() async throws {
        let urls = (0..<6).map { "http://pictures.test/\($0)" }
        let place = Place(Dictionary(uniqueKeysWithValues: urls.map { ($0, Samples.jpeg) }))
        let bytes = 4 * Samples.box.width * Samples.box.height
        let pipeline = try place.pipeline(ImageSettings(memoryBytes: 3 * bytes))
        for url in urls {
            _ = try await pipeline.picture(PictureRequest(URL(string: url)!, size: Samples.box))
        }
        #expect(pipeline.memoryUse == (3 * bytes, 3))
        pipeline.trimMemory(toBytes: bytes)
        #expect(pipeline.memoryUse == (bytes, 1))
    }
}
