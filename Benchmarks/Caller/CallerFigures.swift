/// A step as an app takes it through the public API, from the call to the answer in the caller's hand.
///
/// Each is a median in microseconds. The thresholds are for two cores, release, nothing else running.
enum CallerStep: String, CaseIterable {
    /// The newest 50 of one conversation from the cache, again and again: the snapshot alone.
    case rows
    /// With `data()` of each.
    case rowsData = "rows_data"
    /// With `data(as:)` of each.
    case rowsDecoded = "rows_decoded"
    /// With the default source, offline.
    case rowsOffline = "rows_offline"
    /// Of another conversation each time: no plan of an earlier query serves.
    case rowsAnother = "rows_another"
    /// Another document each time.
    case document
    /// From adding a listener to its first call, with the network up and a server that is silent.
    case firstSnapshot = "first_snapshot"
    /// Over the whole collection.
    case count
    case sumAverage = "sum_average"
    /// The same when the engine has been idle for three seconds since somebody asked.
    case countKept = "count_kept"
    case sumAverageKept = "sum_average_kept"
    /// Over one conversation.
    case countWhere = "count_where"
    case sumAverageWhere = "sum_average_where"
    /// `enqueueUpdateData`: durable when it returns.
    case update
    /// The conversation's newest 50 when nobody has asked before and no index is there.
    case firstQuery = "first_query"
    /// How long one job of the engine's queue held it, the longest of that query and of the first
    /// aggregations and listener beside it.
    case longestStep = "longest_step"

    static let sizes = [1_000, 11_000, 100_000, 1_000_000]

    /// In microseconds, at every size.
    var limit: Double? {
        switch self {
        case .rowsData: 150
        case .document: 25
        case .count, .sumAverage, .countKept, .sumAverageKept, .countWhere, .sumAverageWhere: 1_000
        // A frame of a screen.
        case .longestStep: 8_000
        default: nil
        }
    }

    /// How many times as long as raw SQLite it may take, where that does the same in the same run.
    var worstRatio: Double? { self == .firstQuery ? ClientFigure.worstRatio : nil }

    /// How many times as long it may take among the most documents as among ``flatFrom``.
    static let worstGrowth = 1.2
    static let flatFrom = 11_000
    /// The first query has no index and looks at everything.
    var isFlat: Bool { !Self.firsts.contains(self) }
    /// Those of a process in which nobody has asked before.
    static let firsts = [firstQuery, longestStep]
}

/// What one process does for the caller's steps.
enum CallerPart: String {
    /// Fills the cache.
    case load
    /// Asks a query for the first time.
    case first
    /// Asks it again and makes the index, as an idle engine does.
    case index
    case reads
    case writes
}

/// A figure as it is reported: a line of JSON.
struct CallerLine: Encodable {
    var suite = "caller"
    let step: String
    let n: Int
    /// The median of the rounds, each of which is a median.
    let figure: Double
    /// Of the fastest round.
    let best: Double
    let unit: String
    /// Raw SQLite doing the same in the same run.
    var raw: Double?
    var ratio: Double?
    let limit: Double?
    var ratioLimit: Double?
    var holds: Bool

    init(_ step: CallerStep, count: Int, _ rounds: [Double], raw: [Double]?) {
        self.step = step.rawValue
        n = count
        let value = step == .longestStep ? rounds.max()! : rounds.median
        figure = value
        best = rounds.min()!
        unit = "µs"
        limit = step.limit
        holds = value <= step.limit ?? .infinity
        guard let raw, let worst = step.worstRatio else { return }
        self.raw = raw.median
        ratio = figure / raw.median
        ratioLimit = worst
        holds = holds && figure <= worst * raw.median
    }

    /// How many times as long a step takes among many documents as among few.
    init(growthOf step: CallerStep, count: Int, few: [Double], many: [Double]) {
        self.step = step.rawValue + "_growth"
        n = count
        figure = many.median / few.median
        best = many.min()! / few.min()!
        unit = "times"
        limit = CallerStep.worstGrowth
        holds = figure <= CallerStep.worstGrowth
    }

    /// What a process says beside its steps, without a threshold.
    init(_ name: String, count: Int, _ rounds: [Double], unit: String) {
        step = name
        n = count
        figure = rounds.median
        best = rounds.min()!
        self.unit = unit
        limit = nil
        holds = true
    }
}
