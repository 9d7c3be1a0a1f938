public import Foundation
public import Tidemark
public import TidemarkApp
public import TidemarkHealth
public import TidemarkHealthSync

/// The parts of the app's data: the person's health store on this device, where samples come from, and
/// where the days go.
public struct HealthApp: Sendable {
    public let store: HealthStore
    /// HealthKit, by an adapter of the app's own; in tests a scripted one.
    public let source: any HealthSampleSource
    public let firestore: Firestore
    /// `users/ID/days`: one document a day, named by the day, as in `2026-05-10`.
    public let days: CollectionReference
    public var now: @Sendable () -> Date = { Date() }
    public var clock: any Clock<Duration> = ContinuousClock()
    /// Days in one batch, 1 to 100.
    public var daysPerPart = 10
    /// What reads the days that are sent: the history itself, unless somebody measures it.
    public var reading: @Sendable (HealthHistory) -> any BackfillSource<[HealthDayRecord]> = { $0 }
    let picked: PickedExport

    /// The kinds that the screen shows.
    public static let kinds: Set<HealthKind> = [
        .steps, .heartRate, .sleep, .weight, .height, .mood,
    ]

    /// - Parameters:
    ///   - folder: Where `health.sqlite` is made.
    ///   - source: Where samples come from.
    ///   - firestore: A client of this person.
    ///   - user: The person's id.
    /// - Throws: `HealthExportError` when the store cannot be opened.
    public init(
        folder: String, source: any HealthSampleSource, firestore: Firestore, user: String
    ) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        store = try HealthStore(path: folder + "/health.sqlite")
        picked = PickedExport(folder: folder)
        self.source = source
        self.firestore = firestore
        days = firestore.collection("users/\(user)/days")
    }

    /// Files, accounts and Firestore in one folder: `try TidemarkStack(HealthApp.settings(…))`.
    public static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts)
    }

    /// Of a stack, once somebody has signed in.
    public init(_ stack: TidemarkStack, source: any HealthSampleSource, user: UserID) throws {
        try self.init(
            folder: stack.settings.folder + "/health-\(user.text)", source: source,
            firestore: stack.firestore, user: user.text)
    }

    /// Samples into the store: the newest seven days first, then everything, then what comes.
    func intake() -> HealthIntake { HealthIntake(from: source, into: store, kinds: Self.kinds) }

    /// Days from the store to the server, newest first. One write a day, no reads.
    func sending() throws -> Backfill? {
        let history = try HealthHistory(
            store, to: days, daysPerPart: daysPerPart, now: { [now] in Timestamp(date: now()) })
        return try history.job().map {
            Backfill([.init($0, from: reading(history), to: history)])
        }
    }

    /// The days that other devices have sent, newest first. One read a day, once for each device.
    ///
    /// - Parameters:
    ///   - count: How many days back.
    ///   - last: The newest of them; nil for today.
    public func returning(days count: Int = 90, until last: HealthDay? = nil) throws -> Backfill {
        let download = try HealthDownload(days, into: store)
        let job = download.job(days: count, until: last ?? moment.day)
        return Backfill([.init(job, from: download, to: download)])
    }

    /// The time and place of the person.
    var moment: HealthMoment {
        let date = now()
        return HealthMoment(
            seconds: Int64(date.timeIntervalSince1970.rounded(.down)),
            offset: TimeZone.current.secondsFromGMT(for: date) / 60)
    }
}
