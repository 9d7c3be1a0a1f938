import ExampleKit
import TidemarkPhones

extension PhoneSide {
    var title: String { self == .before ? "As it was" : "On Tidemark" }
}

extension Example {
    var shown: ShowState.App {
        ShowState.App(
            name: name, title: title, problem: problem, promise: promise,
            acts: secondDevice.map { ShowState.Named(id: $0.id, title: $0.title) },
            photoControl: otherPhone?.photoControl)
    }
}

/// The complete state of the page, as a value. The page is drawn only from it, a recording stores
/// it, and tests compare it.
struct ShowState: Codable, Equatable, Sendable {
    struct App: Codable, Equatable, Sendable {
        var name: String
        var title: String
        var problem: String
        var promise: String
        /// The actions available on the user's second device.
        var acts: [Named] = []
        /// The control that sends a photo to another person; nil if there is none.
        var photoControl: String?
    }

    struct Named: Codable, Equatable, Sendable {
        var id: String
        var title: String
    }

    enum Stage: Codable, Equatable, Sendable {
        /// The day before is being played; the text describes the current step.
        case preparing(String)
        case ready
        /// The preparation failed; the text describes the error.
        case failed(String)
    }

    struct Story: Codable, Equatable, Sendable {
        /// The index of the scene, from 0.
        var scene: Int
        var count: Int
        var caption: String
        var isOver = false
    }

    var app: App
    /// The available apps.
    var apps: [Named]
    var stage = Stage.preparing("The server is starting.")
    var phones = PhoneSide.allCases.map(PhoneState.init)
    var network = Network.healthy
    var isAirplane = false
    /// The number of changes that other people make per minute.
    var rate = 0
    /// The number of changes that other people have made.
    var written = 0
    /// The time in seconds by which the clock was moved forward.
    var clock = 0.0
    /// The number of users for whom the monthly cost is shown.
    var users = 10_000
    var story: Story?
    var message: String?
    /// True if the state comes from a recording.
    var isRecording = false

    subscript(side: PhoneSide) -> PhoneState {
        get { phones[side == .before ? 0 : 1] }
        set { phones[side == .before ? 0 : 1] = newValue }
    }

    /// Returns the monthly cost in US dollars, if the reads so far were those of each user on each
    /// day.
    func monthlyDollars(_ side: PhoneSide, price: Double) -> Double {
        Double(self[side].reads * users * 30) / 100_000 * price
    }
}

/// The state of one phone.
struct PhoneState: Codable, Equatable, Sendable {
    enum Life: Codable, Equatable, Sendable {
        case off
        case running
        /// The process ended; the text describes the reason.
        case dead(String)
    }

    /// A call or stream that the server has received.
    struct Call: Codable, Equatable, Sendable {
        var id: Int
        var method: String
        var asked: String
        /// The start of the call, in seconds since the day began.
        var start: Double
        /// The duration in seconds; nil while the call is in progress.
        var seconds: Double?
        var reads: Int
        var bytes: Int
        /// `OK` or another status; nil while the call is in progress.
        var outcome: String?
    }

    /// A comparison of the first screen with a full read.
    struct Comparison: Codable, Equatable, Sendable {
        /// The number of documents in a full read.
        var count: Int
        /// The number of documents that the phone should show and does not.
        var missing: Int
        /// The number of documents that the phone shows and that are not in a full read.
        var extra: Int
    }

    /// The maximum number of launches whose figures are kept.
    static let maxLaunches = 200

    let side: PhoneSide
    var life = Life.off
    var screen: Screen?
    /// The number of launches on this day, which also identifies the process of the newest launch.
    var launches = 0
    /// The milliseconds from each launch to the first content; nil if the launch ended before it
    /// showed any.
    var firstContent: [Double?] = []
    var reads = 0
    var bytes = 0
    /// The calls, newest last.
    var calls: [Call] = []
    var plan: [String] = []
    var comparison: Comparison?
    /// The number of photos that the user has chosen; nil if there are none.
    var chosenPhotos: Int?
    /// The phone of the person to whom the photos are sent.
    var other: OtherPhone.View?

    init(_ side: PhoneSide) { self.side = side }

    /// The number of chosen photos that have not arrived.
    var missingPhotos: Int { max(0, (chosenPhotos ?? 0) - (other?.photos ?? 0)) }
    /// The longest time to the first content among all launches.
    var slowest: Double? { firstContent.compactMap { $0 }.max() }
    /// The number of launches that ended before they showed anything.
    var blank: Int {
        let isOpen = life == .running
        return (isOpen ? firstContent.dropLast() : firstContent[...]).count { $0 == nil }
    }
}
