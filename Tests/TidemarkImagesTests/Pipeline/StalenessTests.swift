import Foundation
import Testing
import TidemarkResilience
import TidemarkTestKit

@testable import TidemarkImages

@Suite(.timeLimit(.minutes(2))) struct StalenessTests {
    private typealias Reply = ScriptedPictures.Reply

    @Test func `a stale picture is shown at once, and the server asked beside it`() async throws {
        let (old, new) = (Samples.photograph(1), Samples.photograph(2))
        let network = ScriptedPictures { request, number in
            number == 0
                ? .file(old, request, tag: "\"1\"", maxAge: 10)
                : .file(new, request, tag: "\"2\"", maxAge: 10)
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let first = try await pipeline.picture(Samples.request)
        place.pass(11)
        let second = try await pipeline.picture(Samples.request)
        #expect(second.picture == first.picture && second.isStale && second.origin == .memory)
        await pipeline.settle()
        #expect(network.fields(1)["if-none-match"] == "\"1\"")
        let third = try await pipeline.picture(Samples.request)
        #expect(third.picture != first.picture && !third.isStale)
        #expect(network.requests.count == 2)
    }

    @Test func `from the disk too`() async throws {
        let place = Place([Samples.address: Samples.photograph], maxAge: 10)
        var pipeline = try place.pipeline()
        _ = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        place.pass(11)
        pipeline = try place.pipeline()
        let stale = try await pipeline.picture(Samples.request)
        #expect(stale.isStale && stale.origin == .disk)
        await pipeline.settle()
        #expect(pipeline.figures.notModified == 1)
        let fresh = try await pipeline.picture(Samples.request)
        #expect(!fresh.isStale && fresh.origin == .memory)
        #expect(place.network.requests.count == 2)
    }

    @Test func `where the server insists, it is asked first`() async throws {
        let file = Samples.jpeg
        let network = ScriptedPictures { request, number in
            var reply = Reply.file(file, request)
            reply.fields = reply.fields.filter { $0.name != "cache-control" }
            reply.fields.append(("cache-control", "no-cache"))
            return reply
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        let first = try await pipeline.picture(Samples.request)
        let second = try await pipeline.picture(Samples.request)
        #expect(second.picture == first.picture && !second.isStale)
        #expect(network.requests.count == 2 && pipeline.figures.notModified == 1)
        #expect(pipeline.figures.decodes == 1, "what holds is not decoded again")
    }

    @Test func `asked first and out of reach, what is there is shown`() async throws {
        let network = ScriptedPictures { request, number in
            number == 0 ? .file(Samples.jpeg, request, maxAge: 10) : Reply(breaksAfter: 0)
        }
        let place = Place(network)
        let pipeline = try place.pipeline(ImageSettings(retry: .none, staleness: .askFirst))
        _ = try await pipeline.picture(Samples.request)
        place.pass(11)
        let stale = try await pipeline.picture(Samples.request)
        #expect(stale.isStale)
        #expect(network.requests.count == 2)
    }

    @Test func `a server is not asked again and again beside what is shown`() async throws {
        let place = Place([Samples.address: Samples.jpeg], maxAge: 0)
        let pipeline = try place.pipeline()
        for _ in 0..<5 {
            _ = try await pipeline.picture(Samples.request)
            await pipeline.settle()
        }
        #expect(place.network.requests.count == 2)
        place.pass(61)
        _ = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        #expect(place.network.requests.count == 3)
    }

    @Test(arguments: [404, 403])
    func `what was taken away is seen no more`(status: Int) async throws {
        let network = ScriptedPictures { request, number in
            number == 0 ? .file(Samples.jpeg, request, maxAge: 10) : Reply(status: status)
        }
        let place = Place(network)
        let pipeline = try place.pipeline()
        _ = try await pipeline.picture(Samples.request)
        place.pass(11)
        _ = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        #expect(pipeline.cached(Samples.request) == nil)
        #expect(try place.files().isEmpty)
        await #expect(throws: PictureError.self) { try await pipeline.picture(Samples.request) }
    }

    @Test func `a version is never asked after`() async throws {
        let place = Place([Samples.address: Samples.jpeg], maxAge: 0)
        let pipeline = try place.pipeline()
        let request = PictureRequest(Samples.url, size: Samples.box, version: "7")
        _ = try await pipeline.picture(request)
        place.pass(1_000_000)
        let again = try await pipeline.picture(request)
        #expect(!again.isStale && again.origin == .memory)
        pipeline.trimMemory(toBytes: 0)
        #expect(try await !pipeline.picture(request).isStale)
        #expect(place.network.requests.count == 1)
    }

    @Test(arguments: [0, 8_000])
    func `a file that was damaged on the disk is downloaded again`(place offset: Int) async throws {
        let place = Place([Samples.address: Samples.photograph])
        var pipeline = try place.pipeline()
        let first = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        let body = try #require(try place.files().first { $0.hasSuffix(".body") })
        let path = place.folder.appendingPathComponent(body)
        var data = try Data(contentsOf: path)
        data.replaceSubrange(offset..<offset + 20, with: [UInt8](repeating: 0, count: 20))
        try data.write(to: path)
        pipeline = try place.pipeline()
        // The request has another size, because the small picture has its own file.
        let box = PictureSize(width: 40, height: 30)
        let again = try await pipeline.picture(PictureRequest(Samples.url, size: box))
        #expect(again.origin == .network && again.picture.size == box)
        #expect(place.network.requests.count == 2)
        #expect(first.picture.size == Samples.box)
    }

    @Test func `what is removed while it comes is shown and not kept`() async throws {
        let gate = Gate()
        let place = Place([Samples.address: Samples.jpeg], gate: gate)
        let pipeline = try place.pipeline()
        let loading = Task { try await pipeline.picture(Samples.request) }
        await place.network.requests(1)
        await pipeline.remove(Samples.url)
        gate.open()
        _ = try await loading.value
        await pipeline.settle()
        #expect(pipeline.cached(Samples.request) == nil)
        #expect(try place.files().isEmpty)
        _ = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        #expect(pipeline.cached(Samples.request) != nil, "the next is kept again")
    }

    @Test func `everything can be forgotten`() async throws {
        let place = Place([Samples.address: Samples.jpeg])
        let pipeline = try place.pipeline()
        _ = try await pipeline.picture(Samples.request)
        await pipeline.settle()
        await pipeline.removeAll()
        #expect(pipeline.diskUse == (0, 0) && pipeline.memoryUse == (0, 0))
        #expect(try place.files().isEmpty)
    }
}
