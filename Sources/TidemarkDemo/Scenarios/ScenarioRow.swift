import Tidemark
import TidemarkModel

/// Who uses the app: as it was, or on Tidemark.
enum Side: String, CaseIterable, Sendable { case before, after }

/// One row of a journey: what is there, what happens while the device is away, and its use after.
protocol ScenarioRow: Sendable {
    var name: String { get }
    /// In labels and folders: no spaces.
    var slug: String { get }
    var bar: Bar { get }
    /// Who is signed in.
    func user(_ side: Side) -> String
    /// What is on the server when the device is used for the last time before.
    var seed: [Mutation] { get }
    /// What happens while it is away.
    var news: [Mutation] { get }
    /// For how long it is away, in seconds.
    var away: Int64 { get }
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
    func user(_ side: Side) -> String { Membership.user }
    var news: [Mutation] { [] }
    var away: Int64 { 86_400 }
    var patience: Duration { .seconds(150) }
    var otherLabels: [String] { [] }
    func faults(label: String) -> [DemoFault] { [] }
    /// Nobody has been there before on this device.
    func lastUse(_ side: Side, _ firestore: Firestore) async throws {}
}
