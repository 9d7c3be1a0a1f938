import Foundation
import Synchronization
import Testing
import TestSupport

@testable import TidemarkImages

@Suite(.timeLimit(.minutes(2))) struct ProfilePicturesTests {
    private let size = Samples.box
    private let other = "http://pictures.test/b"

    /// A profile service that counts its reads.
    private final class Profiles: Sendable {
        private let state: Mutex<(pictures: [String: ProfilePicture], reads: Int)>
        let gate = Gate()

        init(_ pictures: [String: ProfilePicture]) { state = Mutex((pictures, 0)) }

        var reads: Int { state.withLock { $0.reads } }

        func read(_ user: String) async throws -> ProfilePicture? {
            state.withLock { $0.reads += 1 }
            try await gate.pass()
            return state.withLock { $0.pictures[user] }
        }
    }

    @Test func `nine views of one person are one read and one download`() async throws {
        let place = Place([Samples.address: Samples.photograph])
        let pipeline = try place.pipeline()
        let profiles = Profiles(["ann": ProfilePicture(Samples.url, version: "1")])
        let pictures = ProfilePictures(pipeline, lookup: profiles.read)
        let views = (0..<9).map { _ in
            Task { try await pictures.picture(of: "ann", size: size) }
        }
        views[4].cancel()
        await #expect(throws: CancellationError.self) { try await views[4].value }
        profiles.gate.open()
        for (index, view) in views.enumerated() where index != 4 {
            #expect(try await view.value.picture.size == size)
        }
        #expect(profiles.reads == 1)
        #expect(place.network.requests.count == 1 && pipeline.figures.decodes == 1)
        #expect(pictures.cached(of: "ann", size: size) != nil)
    }

    @Test func `another picture drops the old one everywhere`() async throws {
        let place = Place([Samples.address: Samples.photograph, other: Samples.jpeg])
        let pipeline = try place.pipeline()
        let pictures = ProfilePictures(pipeline) { _ in nil }
        await pictures.changed("ann", to: ProfilePicture(Samples.url, version: "1"))
        let old = try await pictures.picture(of: "ann", size: size)
        await pipeline.settle()
        let before = try place.files()
        await pictures.changed("ann", to: ProfilePicture(URL(string: other)!, version: "2"))
        #expect(pictures.cached(of: "ann", size: size) == nil)
        let new = try await pictures.picture(of: "ann", size: size)
        #expect(new.picture != old.picture)
        await pipeline.settle()
        let after = try place.files()
        #expect(before.count == 3 && after.count == 3)
        #expect(Set(before).isDisjoint(with: after), "nothing of the old one is on the disk")
        #expect(pipeline.memoryUse.pictures == 1)
    }

    @Test func `the same address with another version is another picture`() async throws {
        let (old, new) = (Samples.photograph(1), Samples.photograph(2))
        let network = ScriptedPictures { request, number in
            .file(number == 0 ? old : new, request, tag: "\"\(number)\"")
        }
        let place = Place(network)
        let pictures = ProfilePictures(try place.pipeline()) { _ in nil }
        await pictures.changed("ann", to: ProfilePicture(Samples.url, version: "1"))
        let first = try await pictures.picture(of: "ann", size: size)
        await pictures.changed("ann", to: ProfilePicture(Samples.url, version: "1"))
        _ = try await pictures.picture(of: "ann", size: size)
        #expect(network.requests.count == 1, "nothing changed")
        await pictures.changed("ann", to: ProfilePicture(Samples.url, version: "2"))
        let second = try await pictures.picture(of: "ann", size: size)
        #expect(first.picture != second.picture && network.requests.count == 2)
    }

    @Test func `a picture that several have stays until the last has another`() async throws {
        let place = Place([Samples.address: Samples.photograph, other: Samples.jpeg])
        let pipeline = try place.pipeline()
        let pictures = ProfilePictures(pipeline) { _ in nil }
        let shared = ProfilePicture(Samples.url)
        for user in ["ann", "bob"] { await pictures.changed(user, to: shared) }
        _ = try await pictures.picture(of: "ann", size: size)
        await pictures.changed("ann", to: ProfilePicture(URL(string: other)!))
        #expect(pictures.cached(of: "bob", size: size) != nil)
        await pictures.changed("bob", to: nil)
        #expect(pipeline.memoryUse.pictures == 0)
        await #expect(throws: PictureError.noPicture) {
            try await pictures.picture(of: "bob", size: size)
        }
    }

    @Test func `what a listener says is newer than what a lookup finds`() async throws {
        let place = Place([Samples.address: Samples.photograph, other: Samples.jpeg])
        let profiles = Profiles(["ann": ProfilePicture(Samples.url, version: "1")])
        let pictures = ProfilePictures(try place.pipeline(), lookup: profiles.read)
        let view = Task { try await pictures.picture(of: "ann", size: size) }
        try await until("the profile is read") { profiles.reads > 0 }
        await pictures.changed("ann", to: ProfilePicture(URL(string: other)!, version: "2"))
        profiles.gate.open()
        _ = try await view.value
        #expect(place.network.requests.map(\.address) == [other])
    }

    @Test func `ids are told apart by their bytes`() {
        var table = ProfileTable()
        // The letter é is a single scalar in the first id, and two scalars in the second. Swift
        // treats the texts as equal, but they name two users.
        let (one, two) = ("\u{E9}", "e\u{301}")
        _ = table.set(one, ProfilePicture(Samples.url))
        #expect(table.picture(two) == nil)
        #expect(table.picture(one) == .some(ProfilePicture(Samples.url)))
    }
}
