import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

@Suite(.timeLimit(.minutes(2))) struct `Users that are online` {
    private static let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    /// Makes 288 users seen in the last 24 hours, five minutes apart, and 1,000 seen earlier.
    private func world(
        _ body: (LocalFirestore, CollectionReference, Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start(now: Self.now)
        let writer = try local.firestore(label: "writer").collection("users")
        for start in stride(from: 0, to: 1_288, by: 400) {
            let batch = writer.firestore.batch()
            for number in start..<min(1_288, start + 400) {
                let time = Self.now.advanced(by: .zero - .seconds(number * 300 + 100))
                batch.setData(["lastSeen": time], forDocument: writer.document("u\(number)"))
            }
            try await batch.commit()
        }
        try await local.whileRunning {
            try await body($0, writer, try $0.firestore(label: "reader"))
        }
    }

    @Test func `are those of 24 hours at first, and then only the changes`() async throws {
        try await world { local, writer, reader in
            let users = try OnlineUsers(reader.collection("users"))
            #expect(try await users.open().isEmpty)
            try await users.refresh()
            #expect(await users.users.count == 288)
            #expect(local.reads(of: "reader") == 289, "one more to ask the server's time")
            local.advance(by: .seconds(300))
            try await writer.document("u50").updateData(["lastSeen": FieldValue.serverTimestamp()])
            try await writer.document("new").setData(["lastSeen": FieldValue.serverTimestamp()])
            let refresh = try await users.refresh()
            #expect(refresh.reads == 2 && local.reads(of: "reader") == 291)
            #expect(
                await users.users.prefix(2).map(\.document.documentID).sorted() == ["new", "u50"])
            #expect(await users.users.count == 288, "one came, and one is no more of the window")
            #expect(await users.online(within: .seconds(120)).count == 2)
        }
    }

    @Test func `are known at the next launch, at the price of the changes`() async throws {
        try await world { local, writer, reader in
            try await OnlineUsers(reader.collection("users")).refresh()
            local.advance(by: .seconds(3_600))
            try await writer.document("u999").updateData(["lastSeen": FieldValue.serverTimestamp()])
            let before = local.reads(of: "reader")
            let next = try OnlineUsers(reader.collection("users"))
            #expect(try await next.open().count == 288, "as of the last time")
            try await next.refresh()
            #expect(local.reads(of: "reader") - before == 1)
            #expect(await next.users.first?.document.documentID == "u999")
        }
    }

    @Test(arguments: [-86_400, 86_400])
    func `are right on a device whose clock is a day off`(seconds: Int) async throws {
        try await world { local, _, _ in
            let clock = try TurnedClock(local)
            clock.turn(ahead: .seconds(seconds))
            let wrong = try clock.firestore(label: "reader")
            let users = try OnlineUsers(wrong.collection("users"))
            try await users.refresh()
            #expect(await users.users.count == 288)
            #expect(local.reads(of: "reader") == 289)
            await wrong.terminate()
        }
    }

    @Test(arguments: [-86_400, 86_400])
    func `stay right when the device's clock is turned`(seconds: Int) async throws {
        try await world { local, _, _ in
            let clock = try TurnedClock(local)
            let device = try clock.firestore(label: "reader")
            let users = try OnlineUsers(device.collection("users"))
            try await users.refresh()
            let before = await users.online(within: .seconds(3_600)).count
            clock.turn(ahead: .seconds(seconds))
            #expect(try await users.open().count == 288)
            #expect(before == 12)
            #expect(await users.online(within: .seconds(3_600)).count == before)
            await device.terminate()
        }
    }

    @Test func `after a week are those of the window and no more`() async throws {
        try await world { local, writer, reader in
            let users = try OnlineUsers(reader.collection("users"))
            try await users.refresh()
            local.advance(by: .seconds(7 * 86_400))
            for number in 0..<3 {
                try await writer.document("u\(number)").updateData([
                    "lastSeen": FieldValue.serverTimestamp()
                ])
            }
            let next = try OnlineUsers(reader.collection("users"))
            let refresh = try await next.refresh()
            #expect(refresh.reads <= 3 + 1)
            #expect(await next.users.count == 3)
        }
    }

    @Test func `are live, at a read for each sign of life`() async throws {
        try await world { local, writer, reader in
            let users = try OnlineUsers(reader.collection("users"))
            await users.start()
            func state(_ isWanted: (OnlineUsers.State) -> Bool) async -> OnlineUsers.State {
                for await state in users.states where isWanted(state) { return state }
                return OnlineUsers.State()
            }
            let first = await state { $0.phase == .fresh }
            #expect(first.users.count == 288)
            #expect(local.reads(of: "reader") == 289, "one more to ask the server's time")
            local.advance(by: .seconds(60))
            let sign = ["lastSeen": FieldValue.serverTimestamp()]
            try await writer.document("u50").updateData(sign)
            _ = await state { $0.users.first?.document.documentID == "u50" }
            try await writer.document("new").setData(sign)
            let last = await state { $0.users.count == 289 }
            #expect(Set(last.users.prefix(2).map(\.document.documentID)) == ["u50", "new"])
            #expect(local.reads(of: "reader") == 291)
            await users.stop()

            // The next launch continues from this state.
            local.advance(by: .seconds(120))
            let next = try OnlineUsers(reader.collection("users"))
            let known = try await next.open().count
            #expect(known == 289)
            await next.start()
            for await state in next.states where state.phase == .fresh { break }
            #expect(local.reads(of: "reader") - 291 <= 3)
            await next.stop()
        }
    }

    @Test func `are paid for once by an app that ends as soon as it shows them`() async throws {
        try await world { local, _, _ in
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("online-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            for launch in 1...2 {
                let device = try local.firestore(
                    label: "device", cache: .directory(folder.path))
                let users = try OnlineUsers(device.collection("users"))
                await users.start()
                for await state in users.states where state.phase == .fresh { break }
                await device.terminate()
                #expect(local.reads(of: "device") <= 288 + launch)
            }
        }
    }

    @MainActor @Test func `have a model, in which they go offline as time goes by`() async throws {
        let local = try LocalFirestore.start(now: Self.now)
        let writer = try local.firestore(label: "writer").collection("users")
        let reader = try local.firestore(label: "reader").collection("users")
        let clock = ManualClock()
        let model = OnlineUsersModel(
            try OnlineUsers(reader), isOnlineFor: .seconds(300), clock: clock)
        #expect(model.phase == .loading)
        try await until("the model says that it is empty") { model.phase == .empty }
        try await writer.document("ann").setData(["lastSeen": FieldValue.serverTimestamp()])
        try await until("somebody is online") { !model.online.isEmpty }
        #expect(model.phase == .fresh && model.users.count == 1)
        local.advance(by: .seconds(301))
        await clock.sleepers()
        clock.advance(by: .seconds(30))
        try await until("nobody is online") { model.online.isEmpty }
        #expect(model.users.count == 1)
        await local.stop()
    }
}
