import Foundation
import Tidemark
import TidemarkHealth
import TidemarkHealthSync
import TidemarkModel

/// The first launch with an export: until a screen is usable, until the server has all the data,
/// and until another device has received the data.
struct HealthRow: ScenarioRow {
    private let export: HealthExportFile
    /// The short export, which the app as it was imports, however long the other export is.
    private let exportBefore: HealthExportFile
    private let kills: Int
    /// True if the export has the length for which the bars in seconds are meant.
    private var isShort: Bool { export.days == exportBefore.days }

    init(_ export: HealthExportFile, before: HealthExportFile, kills: Int) {
        self.export = export
        exportBefore = before
        self.kills = kills
    }

    let isUsedBefore = false

    static func name(days: Int, kills: Int) -> String {
        let launch = "first launch with \(grouped(days)) days"
        return kills == 0 ? launch : "\(launch), killed (-9) \(kills) times"
    }

    var slug: String { "health-\(export.days)-\(kills)" }
    var name: String { Self.name(days: export.days, kills: kills) }
    /// The maximum duration. Ten years are about 20 MB up and 20 MB down, which takes 200 s on 3G.
    var patience: Duration { isShort ? .seconds(300) : .seconds(900) }
    let seed: [Mutation] = []

    var bar: Bar {
        // The other device reads each day once.
        var bar = Bar(
            reads: days(of: export.shownDays).count, isKnownToDevice: true,
            exactly: [
                "documents too many": 0, "reads beside the plan": 0, "hours that differ": 0,
                "summary values": Double(HealthSummary.Item.allCases.count),
            ])
        guard kills == 0 else {
            bar.exactly["kills"] = Double(kills)
            return bar
        }
        bar.most = ["refreshes beyond one each half second": 0]
        // These are the journey's requirements: "first 7 days shown in < 1 s" for a file of any
        // length, because the days are found before the file is read, and "summary reads never
        // slower than 2× their idle time".
        bar.times = ["first 7 days ms": 1_000, "reads beside it, times idle": 2]
        if isShort {
            bar.times["local ms"] = 5_000
        } else {
            // There are too few reads during a short import for a p99: it would be the time of a
            // single read.
            bar.times["reads beside it, p99 times idle"] = 2
        }
        return bar
    }

    private func days(of range: ClosedRange<HealthDay>) -> [HealthDay] {
        (range.lowerBound.number...range.upperBound.number).map(HealthDay.init(number:))
    }

    func user(_ side: Side) -> String { "\(slug)-\(side.rawValue)" }

    /// The collection to which the app sends the days.
    private var collection: CollectionPath {
        CollectionPath(unchecked: "users/\(user(.after))/days")
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let app = HealthApp(
            side: side, data: .export((side == .after ? export : exportBefore).path), visit: visit,
            // The parts are small, so each kill leaves some work.
            daysPerPart: kills > 0 ? max(1, export.days / 18) : isShort ? 30 : 100)
        switch side {
        case .before, .filtered: return try await useBefore(app, visit)
        case .after: return try await useAfter(app, visit)
        }
    }

    private func useBefore(_ app: HealthApp, _ visit: Visit) async throws -> [ShownItem] {
        try await app.runToItsEnd()
        visit.isUpToDate()
        return try shownBefore(visit)
    }

    private func useAfter(_ app: HealthApp, _ visit: Visit) async throws -> [ShownItem] {
        let killed = try await kill(app)
        try await app.runToItsEnd(picks: kills == 0)
        if kills > 0 { visit.measured("kills", Double(killed)) }
        let known = try await daysOnServer(visit)
        let device = SecondDevice(
            visit: visit, user: user(.after), first: try store(visit),
            truth: export.truth)
        let hours = try await device.run(known)
        return Self.shown(hours)
    }

    private func daysOnServer(_ visit: Visit) async throws -> [HealthDay: Document] {
        let documents = try await visit.direct.documents(in: collection)
        let dated = documents.compactMap { document in
            HealthDay(document.path.id).map { ($0, document) }
        }
        let known = Dictionary(dated) { $1 }
        visit.measured("documents", Double(documents.count))
        visit.measured("documents too many", Double(documents.count - known.count))
        return known
    }

    /// Kills the app during the import, and then after every two sent parts.
    ///
    /// - Returns: The number of kills.
    private func kill(_ app: HealthApp) async throws -> Int {
        var killed = 0
        for number in 0..<kills {
            let (word, times) = number == 0 ? ("importing", 1) : ("part", 2)
            let wasKilled = try await app.run(killedAt: word, times: times, picks: number == 0)
            if wasKilled { killed += 1 }
        }
        return killed
    }

    /// Returns the store of the app, which has ended.
    private func store(_ visit: Visit) throws -> HealthStore {
        try HealthStore(path: visit.place.folder.path + HealthApp.storeFile)
    }

    /// Returns the totals that the device of the app as it was holds at the end. The server has no
    /// data.
    private func shownBefore(_ visit: Visit) throws -> [ShownItem] {
        let hours = try store(visit).read { snapshot -> [HourEntry] in
            guard let days = try HealthApp.daysHeldBefore(snapshot) else { return [] }
            return try HealthApp.kinds.flatMap { try snapshot.entries($0, days: days) }
        }
        return Self.shown(hours)
    }

    /// Returns the total of every day and kind, for the five kinds.
    private static func shown(_ hours: [HourEntry]) -> [ShownItem] {
        var sums: [HealthKind: [HealthDay: Int64]] = [:]
        for hour in hours where HealthApp.kinds.contains(hour.kind) {
            sums[hour.kind, default: [:]][hour.day, default: 0] += hour.sumMillionths
        }
        return sums.flatMap { kind, days in
            days.map { day, sum in
                ShownItem(id: id(kind, day: day, sum: Double(sum) / 1_000_000), version: .min)
            }
        }
    }

    /// Returns the totals that the generator knows.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let lived = side == .after ? export : exportBefore
        let all = lived.shownDays
        let oldest = all.upperBound.number - Int64(HealthApp.daysBefore) + 1
        var living: [String: Timestamp] = [:]
        for kind in HealthApp.kinds {
            for (day, total) in lived.truth.totals[kind] ?? [:]
            where side == .after || day.number >= oldest {
                living[Self.id(kind, day: day, sum: total.sum)] = .min
            }
        }
        return Truth(living: living)
    }

    private static func id(_ kind: HealthKind, day: HealthDay, sum: Double) -> String {
        "\(kind.name) \(day) \(sum)"
    }
}
