import Tidemark
import TidemarkModel

/// The variant of the app: as it was, with a filter on an item's own time, or on Tidemark.
enum Side: String, CaseIterable, Sendable {
    /// The app as it was: it listens to whole collections.
    case before
    /// The app asks only for items newer than its newest item. Some of the real apps did this
    /// already. Only the rows of the chat app have this variant.
    case filtered
    case after

    /// The sides of a row to which no filter applies.
    static let pair = [Side.before, .after]
}

/// A row of a journey: the data on the server, the changes while the device is away, and the use
/// after them.
protocol ScenarioRow: Sendable {
    var name: String { get }
    /// The variants of the app that play the row.
    var sides: [Side] { get }
    /// True if there is nothing that the filtered app could filter by, so it reads as the app as it
    /// was. Its figures are then those of `before`.
    var isFilteredAsBefore: Bool { get }
    /// The name in labels and folders. It has no spaces.
    var slug: String { get }
    var bar: Bar { get }
    /// Returns the id of the signed-in user.
    func user(_ side: Side) -> String
    /// The server's data at the time of the device's previous use.
    var seed: [Mutation] { get }
    /// The changes while the device is away.
    var news: [Mutation] { get }
    /// The number of seconds from the last use to the measured use. A listener resumes within 30
    /// minutes; later the server sends and bills its whole result again.
    var away: Int64 { get }
    /// True if the device holds data from its last use.
    var isUsedBefore: Bool { get }
    /// The maximum duration of a use. A longer use is cancelled and fails.
    var patience: Duration { get }

    /// Other labels under which the use on Tidemark is billed. No other row uses them.
    var otherLabels: [String] { get }

    /// True if the row is played on a network. A row that takes long on each is played on one.
    func isPlayed(on network: DemoNetwork) -> Bool
    /// Returns faults that happen on every network, in addition to those of the network.
    func faults(label: String) -> [DemoFault]
    /// Plays the device's use of a version of the app without this client. It comes first and is
    /// not measured.
    func oldUse(_ side: Side, at place: DemoPlace) async throws
    /// Plays the device's previous use, on a healthy network. It is not measured.
    func lastUse(_ side: Side, _ firestore: Firestore) async throws
    /// Plays the measured use. Returns the items on the screen at its end.
    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem]
    /// Returns the bill of the measured use on Tidemark, as its planner predicts it from the files
    /// of the device and the changes of others. Nil for a row without a prediction. It must cost
    /// nothing.
    func forecast(_ firestore: Firestore) async throws -> Forecast?
    /// Returns the content that the screen should show at the end of the use.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth
}

extension ScenarioRow {
    var sides: [Side] { Side.pair }
    var isFilteredAsBefore: Bool { false }
    var isUsedBefore: Bool { true }
    func user(_ side: Side) -> String { Membership.user }
    var news: [Mutation] { [] }
    var away: Int64 { 86_400 }
    var patience: Duration { .seconds(300) }
    var otherLabels: [String] { [] }
    func isPlayed(on network: DemoNetwork) -> Bool { true }
    func faults(label: String) -> [DemoFault] { [] }
    func oldUse(_ side: Side, at place: DemoPlace) async throws {}
    /// Does nothing: this device was not used before.
    func lastUse(_ side: Side, _ firestore: Firestore) async throws {}
    func forecast(_ firestore: Firestore) async throws -> Forecast? { nil }
}
