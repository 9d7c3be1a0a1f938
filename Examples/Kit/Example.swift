public import Tidemark

/// One of the five apps, and the day that both of its phones live through.
public struct Example: Sendable {
    /// One word, lower case: `stamps`.
    public var name: String
    public var title: String
    /// What went wrong in the app as it was: a sentence or two.
    public var problem: String
    /// What is different on Tidemark: a sentence or two.
    public var promise: String
    public var before: any PhoneApp.Type
    public var after: any PhoneApp.Type
    /// Whether the phone's user has an account, and a profile at `users/ID`, before the app's first
    /// launch. Where not, the app signs up by itself or needs none.
    public var hasAccount: Bool
    /// Whether both phones have been used before the day begins: on a good network, until their first
    /// screen is complete, with a tap on the control `signIn` where there is one.
    public var isUsedBefore = true
    /// What is on the server before the first launch.
    public var seed: @Sendable (Town) async throws -> Void
    /// What other people do as their act number `n`, from 0, each one document or a few.
    public var others: @Sendable (Town, _ n: Int) async throws -> Void
    /// What the person does on their second device; each is a button.
    public var secondDevice: [Act]
    /// The ids of the documents that the first screen should show, in its order, by a full read.
    public var truth: @Sendable (Town) async throws -> [String]
    public var story: [Beat]

    public init(
        name: String, title: String, problem: String, promise: String,
        before: any PhoneApp.Type, after: any PhoneApp.Type, hasAccount: Bool = false,
        seed: @escaping @Sendable (Town) async throws -> Void,
        others: @escaping @Sendable (Town, _ n: Int) async throws -> Void,
        secondDevice: [Act] = [],
        truth: @escaping @Sendable (Town) async throws -> [String], story: [Beat]
    ) {
        self.name = name
        self.title = title
        self.problem = problem
        self.promise = promise
        self.before = before
        self.after = after
        self.hasAccount = hasAccount
        self.seed = seed
        self.others = others
        self.secondDevice = secondDevice
        self.truth = truth
        self.story = story
    }
}

/// Everything outside a phone. Each phone has a town of its own (a project of the same server), so that
/// what one phone writes is not seen by the other; the same things happen in both.
public struct Town: Sendable {
    /// Past all networks. Its reads are counted apart.
    public var firestore: Firestore
    public var user: PhoneUser
    /// The server's time when its data was made, before the phones are used for the first time.
    public var dayStart: Timestamp
    /// The phones' time: a night later when their day begins, and as far on as their clock is turned.
    public var now: Timestamp

    public init(firestore: Firestore, user: PhoneUser, dayStart: Timestamp) {
        self.firestore = firestore
        self.user = user
        self.dayStart = dayStart
        now = dayStart
    }
}

/// Something that is done on the person's second device.
public struct Act: Sendable, Identifiable {
    public var id: String
    public var title: String
    public var perform: @Sendable (Town) async throws -> Void

    public init(
        _ id: String, _ title: String, _ perform: @escaping @Sendable (Town) async throws -> Void
    ) {
        self.id = id
        self.title = title
        self.perform = perform
    }
}

/// One scene of a story: a caption, what happens, and how long it may take. Both phones get the same.
public struct Beat: Sendable {
    /// A sentence or two for a person who watches.
    public var caption: String
    public var steps: [Step]
    /// Seconds until the next scene, unless both phones show what `until` asks for earlier.
    public var seconds: Double
    public var until: Sight?

    public init(_ caption: String, _ steps: [Step], seconds: Double, until: Sight? = nil) {
        self.caption = caption
        self.steps = steps
        self.seconds = seconds
        self.until = until
    }

    public enum Step: Sendable, Equatable {
        case network(Network)
        case airplane(Bool)
        case launch
        /// As `kill -9`.
        case kill
        /// Other people do this many things.
        case others(Int)
        /// By the id of an `Act`.
        case secondDevice(String)
        /// On each phone that shows it.
        case tap(String, text: String = "")
        /// Turns the server's clock and both phones' forward, in seconds.
        case turnClock(Double)
    }

    /// What both phones are waited for.
    public enum Sight: Sendable, Equatable {
        case content
        case fresh
    }
}

/// The networks that a phone can be on.
public enum Network: String, Codable, CaseIterable, Sendable {
    case healthy
    /// 400 ms there and back, 1.6 Mbit/s, 2 % of the packets lost.
    case threeG = "3g"
    /// Every call takes 18 s.
    case slow = "backend-18s"
    case refused = "refuse"
    /// Packets vanish.
    case blackhole
    /// Three of ten calls fail.
    case flaky = "flaky-30"
    /// A login page answers in the server's place.
    case captive

    public var title: String {
        switch self {
        case .healthy: "Good"
        case .threeG: "3G"
        case .slow: "Server hangs 18 s"
        case .refused: "Refused"
        case .blackhole: "Black hole"
        case .flaky: "3 of 10 calls fail"
        case .captive: "Hotel login page"
        }
    }
}
