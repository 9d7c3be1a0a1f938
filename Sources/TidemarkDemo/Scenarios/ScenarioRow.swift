import Tidemark
import TidemarkModel

/// Who uses the app: as it was, with a filter on an item's own time, or on Tidemark.
enum Side: String, CaseIterable, Sendable {
    /// Listens to whole collections.
    case before
    /// Asks for what is newer than its newest item: what some of the apps did already. Only a chat app's
    /// rows have it.
    case filtered
    case after

    /// Of a row that no filter applies to.
    static let pair = [Side.before, .after]
}

/// One row of a journey: what is there, what happens while the device is away, and its use after.
protocol ScenarioRow: Sendable {
    var name: String { get }
    /// Who uses it.
    var sides: [Side] { get }
    /// Whether the app with a filter reads here as the app as it was: there is nothing that it could filter
    /// by. Its figures are those of `before`.
    var isFilteredAsBefore: Bool { get }
    /// In labels and folders: no spaces.
    var slug: String { get }
    var bar: Bar { get }
    /// Who is signed in.
    func user(_ side: Side) -> String
    /// What is on the server when the device is used for the last time before.
    var seed: [Mutation] { get }
    /// What happens while it is away.
    var news: [Mutation] { get }
    /// For how long it is away, in seconds, from its last use to the one that is measured. Within 30 minutes
    /// a listener resumes; after that the server sends and bills its whole result again.
    var away: Int64 { get }
    /// Whether the device holds something from its last use.
    var isUsedBefore: Bool { get }
    /// Beyond this a use is given up, and does not hold.
    var patience: Duration { get }

    /// Labels beside its own under which its use on Tidemark is billed. No other row has them.
    var otherLabels: [String] { get }

    /// What goes wrong here on any network, beside what the network does.
    func faults(label: String) -> [DemoFault]
    /// The device's use before, on a good network: nothing of it is measured.
    func lastUse(_ side: Side, _ firestore: Firestore) async throws
    /// The use that is measured. Returns what it showed in the end.
    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem]
    /// What was there to be shown at its end.
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
    func faults(label: String) -> [DemoFault] { [] }
    /// Nobody has been there before on this device.
    func lastUse(_ side: Side, _ firestore: Firestore) async throws {}
}
