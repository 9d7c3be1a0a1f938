import ExampleKit
import TidemarkPhones

extension PhoneSide {
    var title: String { self == .before ? "As it was" : "On Tidemark" }
}

extension Example {
    var shown: ShowState.App {
        ShowState.App(
            name: name, title: title, problem: problem, promise: promise,
            acts: secondDevice.map { ShowState.Named(id: $0.id, title: $0.title) })
    }
}

/// All that the page shows, as a value: it is drawn from nothing else, kept in a recording, and compared in
/// tests.
struct ShowState: Codable, Equatable, Sendable {
    struct App: Codable, Equatable, Sendable {
        var name: String
        var title: String
        var problem: String
        var promise: String
        /// What the person can do on their second device.
        var acts: [Named] = []
    }

    struct Named: Codable, Equatable, Sendable {
        var id: String
        var title: String
    }

    enum Stage: Codable, Equatable, Sendable {
        /// The day before is being played; with what is done now.
        case preparing(String)
        case ready
        /// With what went wrong.
        case failed(String)
    }

    struct Story: Codable, Equatable, Sendable {
        /// From 0.
        var beat: Int
        var count: Int
        var caption: String
        var isOver = false
    }

    var app: App
    /// All there are.
    var apps: [Named]
    var stage = Stage.preparing("The server starts.")
    var phones = PhoneSide.allCases.map(PhoneState.init)
    var network = Network.healthy
    var isAirplane = false
    /// What other people do a minute.
    var rate = 0
    /// What they have done.
    var written = 0
    /// Seconds that the clock was turned forward.
    var clock = 0.0
    /// For whom a month's cost is told.
    var users = 10_000
    var story: Story?
    var message: String?
    /// Whether it is played back.
    var isRecording = false

    subscript(side: PhoneSide) -> PhoneState {
        get { phones[side == .before ? 0 : 1] }
        set { phones[side == .before ? 0 : 1] = newValue }
    }

    /// Of the reads that were billed so far, as one day of one user.
    func monthlyDollars(_ side: PhoneSide, price: Double) -> Double {
        Double(self[side].reads * users * 30) / 100_000 * price
    }
}

/// One phone.
struct PhoneState: Codable, Equatable, Sendable {
    enum Life: Codable, Equatable, Sendable {
        case off
        case running
        /// With what ended it.
        case dead(String)
    }

    /// A call or stream that the server has seen.
    struct Call: Codable, Equatable, Sendable {
        var id: Int
        var method: String
        var asked: String
        /// Seconds since the day began.
        var start: Double
        /// Nil while it goes on.
        var seconds: Double?
        var reads: Int
        var bytes: Int
        /// `OK`, or the status; nil while it goes on.
        var outcome: String?
    }

    /// The first screen beside a full read.
    struct Comparison: Codable, Equatable, Sendable {
        /// Documents of a full read.
        var count: Int
        /// That the phone does not show.
        var missing: Int
        /// That it shows, and a full read does not.
        var extra: Int
    }

    /// Launches whose figures are kept.
    static let maxLaunches = 200

    let side: PhoneSide
    var life = Life.off
    var screen: Screen?
    /// How often it was opened on this day; also names the process of the newest launch.
    var launches = 0
    /// Milliseconds from each launch to the first content; nil where there was none before its end.
    var firstContent: [Double?] = []
    var reads = 0
    var bytes = 0
    /// The newest last.
    var calls: [Call] = []
    var plan: [String] = []
    var comparison: Comparison?

    init(_ side: PhoneSide) { self.side = side }

    /// Of all launches with content, the slowest.
    var slowest: Double? { firstContent.compactMap { $0 }.max() }
    /// Launches that were ended before they showed anything.
    var blank: Int {
        let isOpen = life == .running
        return (isOpen ? firstContent.dropLast() : firstContent[...]).count { $0 == nil }
    }
}
