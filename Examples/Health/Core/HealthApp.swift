public import Foundation
public import Tidemark
public import TidemarkApp
public import TidemarkHealth
public import TidemarkHealthSync

/// The parts of the app's data: the health store on this device, the source of samples, and the
/// collection to which days are sent.
public struct HealthApp: Sendable {
    public let store: HealthStore
    /// The source of samples: HealthKit through the app's own adapter, or a scripted source in
    /// tests.
    public let source: any HealthSampleSource
    public let firestore: Firestore
    /// The collection `users/ID/days` with one document per day, named after it: `2026-05-10`.
    public let days: CollectionReference
    public var now: @Sendable () -> Date = { Date() }
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The number of days in one batch, 1 to 100.
    public var daysPerPart = 10
    /// Returns the source that reads the days to send. The default is the history itself; a test
    /// can wrap it to measure reads.
    public var reading: @Sendable (HealthHistory) -> any BackfillSource<[HealthDayRecord]> = { $0 }
    /// Reports the network and the device's power to a backfill, so that it pauses while the device
    /// saves power. The app of a stack passes the stack's signals.
    public var follow: @Sendable (Backfill) async -> Void = { _ in }
    let picked: PickedExport
    let unfetched: UnfetchedDays

    /// The kinds that the screen shows.
    public static let kinds: Set<HealthKind> = [
        .steps, .heartRate, .sleep, .weight, .height, .mood,
    ]

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - folder: The folder of `health.sqlite`.
    ///   - source: The source of samples.
    ///   - firestore: A client that acts as this user.
    ///   - user: The user's id.
    /// - Throws: `HealthExportError` if the store cannot be opened.
    public init(
        folder: String, source: any HealthSampleSource, firestore: Firestore, user: String
    ) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        store = try HealthStore(path: folder + "/health.sqlite")
        picked = PickedExport(folder: folder)
        unfetched = UnfetchedDays(folder: folder)
        self.source = source
        self.firestore = firestore
        days = firestore.collection("users/\(user)/days")
    }

    /// Returns the settings of files, accounts and Firestore in one folder. Use them as in
    /// `try TidemarkStack(HealthApp.settings(…))`.
    public static func settings(
        folder: String, projectID: String, accounts: AccountsEndpoint
    ) -> StackSettings {
        StackSettings(folder: folder, projectID: projectID, accounts: accounts)
    }

    /// Returns the settings for the project of `GoogleService-Info.plist`, with all services at
    /// Google.
    public static func settings(
        folder: String, _ info: GoogleServiceInfo
    ) -> StackSettings {
        StackSettings(folder: folder, info)
    }

    /// Makes the app from a stack, after the user has signed in.
    public init(_ stack: TidemarkStack, source: any HealthSampleSource, user: UserID) throws {
        try self.init(
            folder: stack.settings.folder + "/health-\(user.text)", source: source,
            firestore: stack.firestore, user: user.text)
        follow = { await stack.follow($0) }
    }

    /// Returns a task that stores samples: the newest seven days first, then all others, then new
    /// ones.
    func intake() -> HealthIntake { HealthIntake(from: source, into: store, kinds: Self.kinds) }

    /// Returns a task that sends days from the store to the server, newest first; nil if there are
    /// none. Costs one write per day and no reads.
    func sending() throws -> Backfill? {
        let history = try HealthHistory(
            store, to: days, daysPerPart: daysPerPart, now: { [now] in Timestamp(date: now()) })
        return try history.job().map {
            Backfill([.init($0, from: reading(history), to: history)])
        }
    }

    /// The number of days that a new device fetches.
    public static let daysOfOthers = 90

    /// Returns a task that fetches the days sent by other devices, newest first. Each device
    /// completes it once, at one read per day, and one for each window without days.
    ///
    /// - Parameters:
    ///   - count: The number of days.
    ///   - last: The newest day; nil for today.
    public func returning(days count: Int = daysOfOthers, until last: HealthDay? = nil) throws
        -> Backfill
    {
        let download = try HealthDownload(days, into: store)
        let job = download.job(days: count, until: last ?? moment.day)
        return Backfill([.init(job, from: download, to: download)])
    }

    /// The user's current time and time zone.
    var moment: HealthMoment {
        let date = now()
        return HealthMoment(
            seconds: Int64(date.timeIntervalSince1970.rounded(.down)),
            offset: TimeZone.current.secondsFromGMT(for: date) / 60)
    }
}
