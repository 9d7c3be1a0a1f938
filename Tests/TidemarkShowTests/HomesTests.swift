import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import HomesCore

@Suite(.timeLimit(.minutes(2))) struct HomesTests {
    private func has(_ id: String) -> (Screen) -> Bool {
        { screen in screen.controls.contains { $0.id == id } }
    }

    @Test func `an onboarding that was interrupted goes on where it stopped`() async throws {
        try await PhoneGround.play(.homes) { ground in
            let first = try ground.phone(HomesAfter.self)
            _ = try await first.screen("a beginning", where: has("begin"))
            await first.tap("begin", "")
            _ = try await first.screen("a name") { screen in
                #expect(screen.sections.flatMap(\.rows).isEmpty, "nobody is at home yet")
                return has("name")(screen)
            }
            await first.tap("name", "Ada")
            _ = try await first.screen("a home", where: has("home"))
            await first.close()

            let second = try ground.phone(HomesAfter.self)
            let resumed = try await second.screen("the same step", where: has("home"))
            #expect(resumed.sections[0].rows.first?.trailing == "Ada")
            await second.tap("home", "Elm Street 4")
            let home = try await second.screen("a home") {
                $0.state == .fresh && $0.sections[0].rows[1].trailing == "Elm Street 4"
            }
            let truth = try await Example.homes.truth(ground.project)
            #expect(home.documents == truth)
            await second.close()
        }
    }

    @Test func `the old app waits for a profile that nobody wrote`() async throws {
        try await PhoneGround.play(.homes) { ground in
            let first = try ground.phone(HomesBefore.self)
            _ = try await first.screen("a beginning", where: has("begin"))
            await first.tap("begin", "")
            _ = try await first.screen("a name", where: has("name"))
            await first.close()

            let second = try ground.phone(HomesBefore.self)
            let waiting = try await second.screen("a wait") { $0.title == "Setting up your home" }
            #expect(waiting.state == .loading && waiting.controls.isEmpty, "a dead end")
            await second.close()
        }
    }

    @Test func `the old app is at home when nothing interrupts it`() async throws {
        try await PhoneGround.play(.homes) { ground in
            let app = try ground.phone(HomesBefore.self)
            _ = try await app.screen("a beginning", where: has("begin"))
            await app.tap("begin", "")
            _ = try await app.screen("a name", where: has("name"))
            await app.tap("name", "Ada")
            await app.tap("home", "Elm Street 4")
            let home = try await app.screen("neighbours") { !$0.documents.isEmpty }
            let truth = try await Example.homes.truth(ground.project)
            #expect(home.documents == truth)
            await app.close()
        }
    }

    /// If the profile is missing, the app starts the first step without an action of the user.
    @Test func `a field is shown when the launch takes what is typed`() throws {
        let ada = try #require(UserID("ada"))
        var machine = LaunchMachine()
        var model = HomesModel()
        func hear(_ event: LaunchEvent) {
            _ = machine.step(event)
            model.follow(machine, draft: nil)
        }
        for event in [LaunchEvent.start, .localReady(LocalFacts()), .contentShown] { hear(event) }
        hear(.session(.signedIn(ada)))
        hear(.profile(.missing, of: ada))
        #expect(machine.state == .profileMissing(ada, step: 0))
        #expect(model.place == .settingUp && model.actions.isEmpty && model.message == nil)
        hear(.person(.resumeOnboarding(step: 0)))
        #expect(model.place == .onboarding(step: 0))
        hear(.person(.goTo(step: 1)))
        #expect(model.place == .onboarding(step: 1))
    }

    @Test func `each state of the model is a screen of its own`() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        var model = HomesModel()
        #expect(model.screen(now: now).state == .loading)
        model.place = .signIn
        #expect(model.screen(now: now).controls.map(\.id) == ["begin"])
        model.message = "It failed."
        #expect(model.screen(now: now).state == .failed(reason: "It failed.", wayOut: "begin"))
        model.message = nil
        model.place = .onboarding(step: 0)
        #expect(model.screen(now: now).controls.map(\.id) == ["name"])
        model.place = .onboarding(step: 1)
        model.name = "Ada"
        #expect(model.screen(now: now).sections[0].rows[0].trailing == "Ada")
        model.place = .settingUp
        model.message = "Later."
        model.actions = [Control("tryAgain", "Try again")]
        #expect(model.screen(now: now).state == .failed(reason: "Later.", wayOut: "tryAgain"))
        model.place = .home
        model.state = .stale(age: nil, reason: "x")
        let member = Member(name: "Bo", joinedAt: Timestamp(seconds: 999_999, nanoseconds: 0))
        model.lines = [HomesModel.Line(id: "m0", member: member, isPending: true)]
        let screen = model.screen(now: now)
        #expect(screen.state == .stale(age: nil, reason: "Later."))
        #expect(screen.sections[1].rows[0].isPending && screen.documents == ["m0"])
    }
}
