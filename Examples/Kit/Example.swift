public import Tidemark

/// An example app, with the story that both of its phones play.
public struct Example: Sendable {
    /// A word in lower case, such as `stamps`.
    public var name: String
    public var title: String
    /// The problem of the old app, in one or two sentences.
    public var problem: String
    /// The improvement on Tidemark, in one or two sentences.
    public var promise: String
    public var before: any PhoneApp.Type
    public var after: any PhoneApp.Type
    /// True if the phone's user has an account, and a profile at `users/ID`, before the first
    /// launch. If false, the app signs the user up or needs no account.
    public var hasAccount: Bool
    /// True if both phones are used before the story begins: on a good network, until the first
    /// screen is complete, with a tap on the control `signIn` if there is one.
    public var isUsedBefore = true
    /// True if the user of a phone has photos to send.
    public var hasPhotos = false
    /// The phone of another person, to whom the user sends photos; nil if there is none.
    public var otherPhone: OtherPhone?
    /// The example whose rules are deployed; nil for this one.
    public var rulesOf: String?
    /// The use of the version before the update, which had FirebaseFirestore. Nil if there was no
    /// such version.
    public var oldUse: OldUse?
    /// Writes the server's data before the first launch.
    public var seed: @Sendable (PhoneProject) async throws -> Void
    /// Makes act number `n` of other users, counted from 0. Each act writes one document or a few.
    public var others: @Sendable (PhoneProject, _ n: Int) async throws -> Void
    /// The acts that the user can do on a second device. Each is a button.
    public var secondDevice: [StoryAction]
    /// Returns the ids of the documents that the first screen should show, in its order, by a full
    /// read.
    public var truth: @Sendable (PhoneProject) async throws -> [String]
    public var story: [StoryScene]

    public init(
        name: String, title: String, problem: String, promise: String,
        before: any PhoneApp.Type, after: any PhoneApp.Type, hasAccount: Bool = false,
        seed: @escaping @Sendable (PhoneProject) async throws -> Void,
        others: @escaping @Sendable (PhoneProject, _ n: Int) async throws -> Void,
        secondDevice: [StoryAction] = [],
        truth: @escaping @Sendable (PhoneProject) async throws -> [String], story: [StoryScene]
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

/// The use of a version with FirebaseFirestore. It leaves FirebaseFirestore's store and a signed-in
/// user on both phones before the story begins.
public struct OldUse: Sendable {
    /// Returns the queries to which the version listened. They have orders and limits, but no
    /// filters.
    public var queries: @Sendable (PhoneProject) -> [Query]
    /// Returns the documents that the version has read one by one.
    public var documents: @Sendable (PhoneProject) -> [DocumentReference]

    public init(
        queries: @escaping @Sendable (PhoneProject) -> [Query],
        documents: @escaping @Sendable (PhoneProject) -> [DocumentReference] = { _ in [] }
    ) {
        self.queries = queries
        self.documents = documents
    }
}

/// A phone's project on the server. Each phone has its own project, so the phones do not see each
/// other's writes. The same things happen in both projects.
public struct PhoneProject: Sendable {
    /// A client that connects without a simulated network. Its reads are counted separately.
    public var firestore: Firestore
    public var user: PhoneUser
    /// The server's time when the data was made, before the phones are used for the first time.
    public var dayStart: Timestamp
    /// The phones' time. It is one night later when the story begins, and advances when the clock
    /// is turned.
    public var now: Timestamp
    /// The place of the project's files without a simulated network; nil if there are none.
    public var storage: PhoneStorage?
    /// The folder of the photos that the phone's user has taken; nil if there are none.
    public var photos: String?

    public init(firestore: Firestore, user: PhoneUser, dayStart: Timestamp) {
        self.firestore = firestore
        self.user = user
        self.dayStart = dayStart
        now = dayStart
    }
}

/// An action on the user's second device.
public struct StoryAction: Sendable, Identifiable {
    public var id: String
    public var title: String
    public var perform: @Sendable (PhoneProject) async throws -> Void

    public init(
        _ id: String, _ title: String,
        perform: @escaping @Sendable (PhoneProject) async throws -> Void
    ) {
        self.id = id
        self.title = title
        self.perform = perform
    }
}

/// A scene of a story: a caption, the steps, and the maximum time. Both phones get the same steps.
public struct StoryScene: Sendable {
    /// The text for the audience, one or two sentences.
    public var caption: String
    public var steps: [Step]
    /// The seconds until the next scene. It starts earlier if both phones show `until`.
    public var seconds: Double
    public var until: Goal?

    public init(_ caption: String, _ steps: [Step], seconds: Double, until: Goal? = nil) {
        self.caption = caption
        self.steps = steps
        self.seconds = seconds
        self.until = until
    }

    public enum Step: Sendable, Equatable {
        case network(Network)
        case airplane(Bool)
        case launch
        /// Ends the process as `kill -9` does.
        case kill
        /// Makes this number of acts of other users.
        case others(Int)
        /// Makes the ``StoryAction`` with this id on the second device.
        case secondDevice(String)
        /// Taps a control or row on each phone, as soon as its screen shows it within the scene.
        case tap(String, text: String = "")
        /// Turns the clocks of the server and both phones forward, in seconds.
        case turnClock(Double)
    }

    /// The state that both phones must show.
    public enum Goal: Sendable, Equatable {
        case content
        case fresh
        /// Content of which nothing waits to be sent.
        case sent
    }
}

/// The networks that a phone can use.
public enum Network: String, Codable, CaseIterable, Sendable {
    case healthy
    /// A round trip takes 400 ms, the rate is 1.6 Mbit/s, and 2 % of the packets are lost.
    case threeG = "3g"
    /// Every call takes 18 s.
    case slow = "backend-18s"
    case refused = "refuse"
    /// Packets vanish.
    case blackhole
    /// Three of ten calls fail.
    case flaky = "flaky-30"
    /// A login page answers instead of the server.
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
