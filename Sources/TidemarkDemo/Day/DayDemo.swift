import Foundation
import Tidemark

/// A chat app's day, as far as Linux can tell what it costs a battery: processor time and wake-ups
/// of the app's process, measured from outside.
struct DayDemo: Sendable {
    static let messages = "chats/day/messages"

    enum Failure: Error, Equatable {
        /// The app has ended before it showed the newest message.
        case ended(Side)
        /// The system does not tell what a process uses.
        case notMeasured
    }

    /// The number of messages in the chat before the first launch.
    var held = 1_000
    var launches = 5
    /// The number of messages that arrive while the chat is shown, one each half second.
    var arrivals = 20
    /// The seconds in which nothing arrives.
    var quiet = 60

    /// Returns the use of each side.
    func play() async throws -> [Side: DayUse] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-day-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await ServerProcess(
            data: folder.appendingPathComponent("server"),
            options: ["--history", "\(Ground.resumable)"])
        defer { server.stop() }
        let place = DemoPlace(
            port: server.directPort, accounts: server.accountsPort, folder: folder)
        let author = try place.on("author").firestore(label: "author")
        var chat = Chat(messages: author.collection(Self.messages), server: server)
        try await chat.pass()
        try await chat.send(held)
        var uses: [Side: DayUse] = [:]
        for side in [Side.before, .after] {
            ProgressLine.show("a day: \(side.rawValue)")
            let device = try place.on(side.rawValue)
            let phone = Phone(side: side, server: server, folder: device.folder)
            uses[side] = try await play(phone, &chat)
        }
        await author.terminate()
        return uses
    }

    private func play(_ phone: Phone, _ chat: inout Chat) async throws -> DayUse {
        try await chat.pass()
        // The first launch is of a new phone: it reads everything, once in the app's life.
        try await phone.launch().shows(chat.newest).kill()
        var day = DayUse()
        var opening = ProcessUse()
        for _ in 0..<launches {
            try await chat.pass()
            try await chat.send(5)
            let app = try await phone.launch().shows(chat.newest)
            let use = try app.use()
            opening.milliseconds += use.milliseconds
            opening.wakes += use.wakes
            app.kill()
        }
        day.open = opening / launches

        try await chat.pass()
        let app = try await phone.launch().shows(chat.newest)
        var start = try app.use()
        try await Task.sleep(for: .seconds(quiet))
        day.quietMinute = (try app.use() - start) / 1
        day.quietMinute.milliseconds *= 60 / Double(quiet)
        day.quietMinute.wakes *= 60 / Double(quiet)
        start = try app.use()
        for _ in 0..<arrivals {
            try await chat.send(1)
            _ = try await app.shows(chat.newest)
            try await Task.sleep(for: .milliseconds(500))
        }
        day.message = (try app.use() - start) / arrivals
        app.kill()
        return day
    }

    /// The chat, to which others write.
    private struct Chat {
        let messages: CollectionReference
        let server: ServerProcess
        private var count = 0
        private var clock: Int64 = 1_780_000_000
        var newest: String { "m\(count)" }

        init(messages: CollectionReference, server: ServerProcess) {
            self.messages = messages
            self.server = server
        }

        /// Lets so much time pass that a listener does not resume: launches are hours apart.
        mutating func pass() async throws {
            clock += Ground.resumable + Ground.pause
            try await server.setClock(secondsSince1970: clock)
        }

        mutating func send(_ number: Int) async throws {
            var left = number
            while left > 0 {
                let batch = messages.firestore.batch()
                for _ in 0..<min(left, 200) {
                    count += 1
                    batch.setData(
                        [
                            "text": "Message \(count)",
                            "sentAt": Timestamp(seconds: Int64(count), nanoseconds: 0),
                            "updatedAt": FieldValue.serverTimestamp(),
                        ], forDocument: messages.document(newest))
                }
                left -= min(left, 200)
                // tidemark:ignore writes-in-loop a batch has a limited size
                try await batch.commit()
            }
        }
    }

    /// A device with an app.
    private struct Phone: Sendable {
        let side: Side
        let server: ServerProcess
        let folder: URL

        func launch() throws -> App {
            let process = AppProcess([
                "demo", "day-app", "--side", side.rawValue, "--port", "\(server.port)",
                "--accounts-port", "\(server.accountsPort)", "--user", Membership.user,
                "--label", "day-\(side.rawValue)", "--folder", folder.path,
            ])
            return App(side: side, process: process, lines: try process.start().makeAsyncIterator())
        }
    }

    /// A running app.
    private final class App {
        private let side: Side
        private let process: AppProcess
        private var lines: AsyncStream<[String]>.Iterator

        init(side: Side, process: AppProcess, lines: AsyncStream<[String]>.Iterator) {
            self.side = side
            self.process = process
            self.lines = lines
        }

        /// Returns when the app shows a message as the newest.
        func shows(_ message: String) async throws -> App {
            while let words = await lines.next() { if words == ["shown", message] { return self } }
            throw Failure.ended(side)
        }

        func use() throws -> ProcessUse {
            guard let use = ProcessUse(of: process.identifier) else { throw Failure.notMeasured }
            return use
        }

        func kill() { process.kill() }
    }
}
