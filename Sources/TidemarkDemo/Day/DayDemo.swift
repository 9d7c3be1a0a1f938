import Foundation
import Tidemark
import TidemarkPhones

/// A chat app's day, as far as Linux can tell what it costs a battery: processor time and wake-ups
/// of the app's process, and bursts of its network, measured from outside.
struct DayDemo: Sendable {
    static let messages = "chats/day/messages"
    static let name = "a chat on the screen"

    /// The number of messages in the chat before the first launch.
    var held = 1_000
    /// The number of launches.
    var launches = 5
    /// The number of messages that arrive before each launch.
    private static let news = 5
    /// The number of messages that arrive while the chat is shown, one each half second.
    var arrivals = 20
    /// The number of minutes in which the chat is shown and a message arrives.
    var minutes = 2
    /// The duration of such a minute. A shorter one has too few bursts.
    var minute = Duration.seconds(60)
    var bills = BillOptions()

    /// The demo at a tenth of its size. It shows that everything is played; its bursts are fewer
    /// than those of whole minutes.
    static let small = DayDemo(
        held: 100, launches: 2, arrivals: 3, minutes: 1, minute: .seconds(12))

    /// True if this system tells what a process uses.
    static var isMeasured: Bool { ThreadSum.threads(of: getpid()) != nil }

    /// The part of a day that is played.
    var scale: String {
        """
        Played: \(launches) launches for 20, and \(minutes) × \(minute.components.seconds) s on \
        the screen for 240 minutes.
        """
    }

    /// Returns the use of each version, and the bill of the app on Tidemark behind its first
    /// launch.
    ///
    /// - Throws: ``DayError`` if an app does not show a message; the errors of the server.
    func play() async throws -> (uses: [DayVersion: DayUse], bill: PlannedLaunch) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-day-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("server")
        let server = try await ServerProcess(
            data: data,
            options: ["--history", "\(Ground.resumable)"]
                + EnterpriseIndexes.options(of: bills.edition, in: data))
        defer { server.stop() }
        let place = DemoPlace(
            port: server.directPort, accounts: server.accountsPort, folder: folder)
        let author = try place.on("author").firestore(label: "author")
        let chat = DayChat(messages: author.collection(Self.messages), server: server)
        try await chat.pass()
        try await chat.send(held)
        let pictures = try PictureServer.ofSmallPictures()
        let servers = DayServers(
            server: server, pictures: pictures, picturesPort: try await pictures.start())
        var phones: [DayPhone] = []
        for version in DayVersion.allCases {
            phones.append(
                try await DayPhone(
                    version: version, servers: servers,
                    folder: place.on(version.rawValue).folder))
        }
        var forecast = forecast
        if bills.plantsRead { forecast.add("planted: 1", .document(bytes: 1)) }
        let (uses, bill) = try await play(phones, chat)
        for phone in phones { await phone.close() }
        await pictures.stop()
        await chat.close()
        await author.terminate()
        return (uses, PlannedLaunch(forecast: forecast, bill: bill))
    }

    /// Predicts the bill behind the first launch. A launch asks for the changes since five minutes
    /// before the last read, so it reads the messages again that were sent just before that. Each
    /// message on the open screen is a change.
    var forecast: Forecast {
        var forecast = Forecast()
        var (sent, again) = (held, 0)
        for news in Array(repeating: Self.news, count: launches) + [1] {
            let rows = DayChat.rows((sent - again + 1)...(sent + news))
            forecast.add("changes: \(rows.count)", .query(rows))
            sent += news
            again = news
        }
        let shown = DayChat.rows((sent + 1)...(sent + arrivals + minutes))
        forecast.addUpdates("messages on the open screen", of: shown)
        return forecast
    }

    private func play(
        _ phones: [DayPhone], _ chat: DayChat
    ) async throws -> (uses: [DayVersion: DayUse], bill: Bill) {
        var uses: [DayVersion: DayUse] = [:]
        let first = try await launch(phones, chat, &uses)
        try await chat.pass()
        try await chat.send(1)
        var apps: [DayApp] = []
        defer { for app in apps { app.kill() } }
        for phone in phones {
            let app = try phone.launch(ahead: chat.ahead)
            apps.append(app)
            try await app.isLaunched(with: chat.newest)
        }
        try await show(apps, chat, &uses)
        return (uses, try await chat.bill(of: .after).minus(first))
    }

    /// Measures the launches. They are hours apart by the server's clock.
    ///
    /// - Returns: The bill of the first launch on Tidemark.
    private func launch(
        _ phones: [DayPhone], _ chat: DayChat, _ uses: inout [DayVersion: DayUse]
    ) async throws -> Bill {
        var first = Bill([])
        for number in 0...launches {
            ProgressLine.show("a day: launch \(number) of \(launches)")
            try await chat.pass()
            // The first launch is of a new phone. It reads everything, once in the app's life, and
            // does not count.
            if number == 1 { first = try await chat.bill(of: .after) }
            if number > 0 { try await chat.send(Self.news) }
            for phone in phones {
                let app = try phone.launch(ahead: chat.ahead)
                defer { app.kill() }
                try await app.isLaunched(with: chat.newest)
                guard number > 0 else { continue }
                uses[phone.version, default: DayUse()].launch =
                    uses[phone.version, default: DayUse()].launch + (try app.use()) / launches
            }
        }
        return first
    }

    /// Measures apps that show the chat while messages arrive.
    private func show(
        _ apps: [DayApp], _ chat: DayChat, _ uses: inout [DayVersion: DayUse]
    ) async throws {
        ProgressLine.show("a day: \(arrivals) messages")
        var start = try apps.map { try $0.use() }
        for _ in 0..<arrivals {
            try await arrive(apps, chat)
            try await Task.sleep(for: .milliseconds(500))
        }
        for (app, start) in zip(apps, start) {
            uses[app.version]?.message = (try app.use() - start) / arrivals
        }
        // The last message's burst ends before the minutes begin.
        try await Self.pass(BurstCount.silence + .seconds(1), apps)
        start = try apps.map { try $0.use() }
        for number in 1...minutes {
            ProgressLine.show("a day: minute \(number) of \(minutes)")
            let end = ContinuousClock.now + minute
            try await arrive(apps, chat)
            try await Self.pass(end - .now, apps)
        }
        for (app, start) in zip(apps, start) {
            uses[app.version]?.minute = (try app.use() - start) / minutes
        }
    }

    private func arrive(_ apps: [DayApp], _ chat: DayChat) async throws {
        try await chat.send(1)
        for app in apps where app.version.isLive { try await app.shows(chat.newest) }
    }

    /// Waits, and reads the figures each second, so that those of ending threads are not lost.
    private static func pass(_ time: Duration, _ apps: [DayApp]) async throws {
        let end = ContinuousClock.now + time
        while .now < end {
            try await Task.sleep(for: min(.seconds(1), end - .now))
            for app in apps { _ = try app.use() }
        }
    }
}
