import Testing
import Tidemark
import TidemarkTesting

@testable import TidemarkApp

/// A server deletes an account only after a recent sign-in: the removal waits for it, and the next
/// sign-in continues it.
@Suite(.timeLimit(.minutes(2))) struct `A removal that waits for a sign-in` {
    private let way = AccountJobs.Way.password(email: "ada@b.c", "correct horse")

    private func finished(_ news: JobNews?) -> UserID? {
        if case .finished(let user)? = news { user } else { nil }
    }

    @Test func `goes on after it, also after a launch`() async throws {
        let world = try await StackWorld()
        var stack = try world.stack()
        await stack.identity.load()
        var news = stack.jobs.news.makeAsyncIterator()
        try await stack.jobs.signUp(way, profile: ["name": .string("Ada")])
        let user = try #require(finished(await news.next()))
        // The sign-in is then too old for a deletion.
        world.local.advance(by: .seconds(3_600))
        await stack.jobs.deleteAccount()
        #expect(await news.next() == .needsPerson(step: 0))
        #expect(try await stack.firestore.document("users/\(user)").getDocument().exists)
        await stack.close()

        stack = try world.stack()
        await stack.identity.load()
        news = stack.jobs.news.makeAsyncIterator()
        await stack.jobs.resume()
        #expect(await news.next() == .needsPerson(step: 0))
        // A wrong password changes nothing.
        try await stack.jobs.signIn(.password(email: "ada@b.c", "wrong horse"))
        #expect(await news.next() == .needsPerson(step: 0))
        try await stack.jobs.signIn(way)
        #expect(await news.next() == .removed)
        #expect(stack.identity.user == nil)
        await #expect(throws: AccountError.wrongCredentials) {
            try await stack.accounts?.signIn(email: "ada@b.c", password: "correct horse")
        }
        await stack.close()
        await world.stop()
    }
}
