import Foundation
import Synchronization
import Testing
import TestSupport
import TidemarkTestKit

@testable import TidemarkImages

/// Tests the addresses that `TidemarkImage(user:)` shows. The view itself runs in
/// `Tools/AppleCheck`.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `A user's picture for views` {
    private let clock = ManualClock()
    private let first = ProfilePicture(Samples.url, version: "1")
    private let second = ProfilePicture(Samples.url, version: "2")

    private func people(
        lookup: @escaping @Sendable (String) async throws -> ProfilePicture?
    ) throws -> ProfilePictures {
        ProfilePictures(try Place([Samples.address: Samples.photograph]).pipeline(), lookup: lookup)
    }

    private func follow(
        _ model: ProfilePictureModel, _ user: String, _ people: ProfilePictures
    ) -> Task<Void, Never> {
        Task { await model.follow(user, from: people) }
    }

    @Test func `is looked up once for nine views, and changes in all of them`() async throws {
        let reads = Mutex(0)
        let people = try people { [first] user in
            reads.withLock { $0 += 1 }
            return user == "ann" ? first : nil
        }
        let models = (0..<9).map { _ in ProfilePictureModel(clock: clock) }
        #expect(models[0].picture(of: "ann", from: people) == nil)
        let views = models.map { follow($0, "ann", people) }
        try await until("all have the picture") {
            models.allSatisfy { $0.picture(of: "ann", from: people) == first }
        }
        #expect(reads.withLock(\.self) == 1)
        let another = ProfilePictureModel(clock: clock)
        #expect(another.picture(of: "ann", from: people) == first, "without waiting")
        await people.changed("ann", to: second)
        try await until("all have the other picture") {
            models.allSatisfy { $0.picture(of: "ann", from: people) == second }
        }
        await people.changed("ann", to: nil)
        try await until("the picture is gone") {
            models.allSatisfy {
                $0.picture(of: "ann", from: people) == nil && $0.error == .noPicture
            }
        }
        #expect(models[0].picture(of: "bob", from: people) == nil, "never another one's picture")
        for view in views { view.cancel() }
        for view in views { await view.value }
        try await until("nobody is followed") { people.watchers.withLock(\.isEmpty) }
    }

    @Test func `of a change during the lookup is the changed one`() async throws {
        let gate = Gate()
        let people = try people { [first] _ in
            try await gate.pass()
            return first
        }
        let model = ProfilePictureModel(clock: clock)
        let view = follow(model, "ann", people)
        try await until("the view follows") { !people.watchers.withLock(\.isEmpty) }
        await people.changed("ann", to: second)
        try await until("the change is shown") {
            model.picture(of: "ann", from: people) == second
        }
        gate.open()
        // The lookup's answer would arrive before this change.
        await people.changed("ann", to: nil)
        try await until("the last change is shown") { model.error == .noPicture }
        view.cancel()
    }

    @Test func `is looked up again after a failure`() async throws {
        let fails = Mutex(true)
        let people = try people { [first] _ in
            if fails.withLock(\.self) {
                throw PictureError.serverFailed(status: 500, retryAfter: nil)
            }
            return first
        }
        let model = ProfilePictureModel(clock: clock)
        let view = follow(model, "ann", people)
        try await until("the failure is shown") { model.error != nil }
        #expect(model.error == .serverFailed(status: 500, retryAfter: nil))
        await clock.sleepers(1)
        fails.withLock { $0 = false }
        clock.advance(by: ProfilePictureModel.pause)
        try await until("the picture is known") {
            model.picture(of: "ann", from: people) == first && model.error == nil
        }
        view.cancel()
    }

    @Test func `without a source is a placeholder`() async {
        let model = ProfilePictureModel(clock: clock)
        await model.follow("ann", from: nil)
        #expect(model.picture(of: "ann", from: nil) == nil && model.error == nil)
    }
}
