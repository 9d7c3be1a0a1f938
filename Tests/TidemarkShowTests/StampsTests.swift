import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkPhones
import TidemarkServer
import TidemarkTesting

@testable import StampsCore

@Suite(.timeLimit(.minutes(2))) struct StampsTests {
    private func signIn(_ app: some PhoneApp) async throws {
        _ = try await app.screen("a sign-in") { $0.controls.contains { $0.id == "signIn" } }
        await app.tap("signIn", "")
    }

    private func waitForRank(of app: some PhoneApp) async throws {
        _ = try await app.screen("a rank") { screen in
            screen.sections.first?.rows.contains { $0.id == "rank" && $0.trailing == "201" } == true
        }
    }

    @Test func `the screen is there from disk when nobody answers, and says how old it is`()
        async throws
    {
        try await PhoneGround.play(.stamps) { ground in
            let first = try ground.phone(StampsAfter.self)
            try await signIn(first)
            let fresh = try await first.screen("fresh") { $0.state == .fresh }
            let truth = try await Example.stamps.truth(ground.project)
            #expect(fresh.documents == truth)
            try await waitForRank(of: first)
            await first.close()

            let second = try ground.phone(StampsAfter.self, isOnline: false)
            let stale = try await second.screen("stale") {
                if case .stale = $0.state { $0.hasContent && !$0.documents.isEmpty } else { false }
            }
            #expect(stale.documents == fresh.documents)
            await second.close()
        }
    }

    @Test
    func `the old app shows the same where the network is good, and reads everybody for a rank`()
        async throws
    {
        try await PhoneGround.play(.stamps) { ground in
            let app = try ground.phone(StampsBefore.self, "before")
            try await signIn(app)
            let shown = try await app.screen("a rank or none") { screen in
                let rank = screen.sections.first?.rows.first { $0.id == "rank" }
                return rank.map { $0.kind == .figure } ?? false
            }
            #expect(shown.sections.first?.rows.first { $0.id == "rank" }?.trailing == "201")
            #expect(shown.state == .quiet)
            let truth = try await Example.stamps.truth(ground.project)
            #expect(shown.documents == truth)
            let reads = ground.local.meter().first { $0.label == "before" }?.reads ?? 0
            #expect(reads >= 251, "50 stamps, a profile and 200 users")
            await app.close()
        }
    }

    private func hasProfile(_ screen: Screen) -> Bool {
        let row = screen.sections.first?.rows.first
        return row?.title == "Stamps of Ada" && row?.trailing == "40"
    }

    private func loaded(_ screen: Screen) -> [Bool] {
        screen.sections.flatMap(\.rows).compactMap { $0.picture?.isLoaded }
    }

    private let nine = Array(repeating: true, count: 9)

    @Test func `profile and pictures are there from disk when nobody answers`() async throws {
        let server = try PictureServer.ofSmallPictures()
        let address = "http://127.0.0.1:\(try await server.start())/after"
        try await PhoneGround.play(.stamps) { ground in
            let first = try ground.phone(StampsAfter.self, pictures: address)
            try await signIn(first)
            _ = try await first.screen("all pictures") { loaded($0) == nine && hasProfile($0) }
            await first.close()
            #expect(server.served("after").requests == 9)
            await server.stop()

            let second = try ground.phone(StampsAfter.self, isOnline: false, pictures: address)
            let screen = try await second.screen("all from disk") {
                loaded($0) == nine && hasProfile($0)
            }
            #expect(!screen.documents.isEmpty)
            await second.close()
        }
    }

    @Test func `the old app keeps the pictures that it has loaded, as its libraries did`()
        async throws
    {
        let server = try PictureServer.ofSmallPictures()
        let address = "http://127.0.0.1:\(try await server.start())/before"
        try await PhoneGround.play(.stamps) { ground in
            for launch in 1...2 {
                let app = try ground.phone(StampsBefore.self, "before", pictures: address)
                if launch == 1 { try await signIn(app) }
                _ = try await app.screen("all pictures") { loaded($0) == nine && hasProfile($0) }
                await app.close()
                #expect(server.served("before").whole == 9, "launch \(launch)")
            }
        }
        await server.stop()
    }

    @Test func `each state of the model is a screen of its own`() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        var model = StampsModel()
        #expect(model.screen(now: now).state == .loading)
        model.place = .signIn
        #expect(model.screen(now: now).controls.map(\.id) == ["signIn"])
        model.place = .stamps
        #expect(!model.screen(now: now).sections[1].rows.contains { $0.isDocument })
        model.state = .fresh
        #expect(model.screen(now: now).state == .empty("No stamps yet."))
        let stamp = Stamp(
            name: "Comet", country: "Japan", createdAt: Timestamp(seconds: 999_880, nanoseconds: 0))
        model.lines = [StampsModel.Line(id: "s1", stamp: stamp)]
        let row = model.screen(now: now).sections[1].rows[0]
        #expect(row.title == "Comet" && row.trailing == "2m ago" && row.isDocument)
        #expect(row.picture?.isLoaded == nil)
        model.lines[0].stamp.picture = "7"
        #expect(model.screen(now: now).sections[1].rows[0].picture?.isLoaded == false)
        model.pictures = ["s1"]
        #expect(model.screen(now: now).sections[1].rows[0].picture?.isLoaded == true)
        model.state = .stale(age: 60, reason: "Looking for news.")
        #expect(model.screen(now: now).state == .stale(age: 60, reason: "Looking for news."))
        model.message = "You're offline."
        #expect(model.screen(now: now).state == .stale(age: 60, reason: "You're offline."))
        model.state = .failed(reason: "No.", wayOut: "refresh")
        #expect(model.screen(now: now).controls.contains { $0.id == "refresh" })
        model.rank = .known("7", isFresh: false)
        #expect(model.screen(now: now).sections[0].rows[1].detail == "as last known")
    }
}
