/// A step through the public API, from the call to the answer, as an app waits for it.
///
/// Each figure is a median in microseconds. The limits are for two cores, a release build, and
/// nothing else running.
enum CallerStep: String, CaseIterable {
    /// The newest 50 of one conversation from the cache, repeatedly. This measures the snapshot
    /// only.
    case rows
    /// The same with `data()` of each document.
    case rowsData = "rows_data"
    /// The same with `data(as:)` of each document.
    case rowsDecoded = "rows_decoded"
    /// The same with the default source, offline.
    case rowsOffline = "rows_offline"
    /// The newest 50 of another conversation each time, so no plan of an earlier query is reused.
    case rowsAnother = "rows_another"
    /// Another document each time.
    case document
    /// The time from adding a listener to its first call, with the network enabled and a silent
    /// server.
    case firstSnapshot = "first_snapshot"
    /// A count over the whole collection.
    case count
    case sumAverage = "sum_average"
    /// The same after the engine was idle for three seconds.
    case countKept = "count_kept"
    case sumAverageKept = "sum_average_kept"
    /// A count over one conversation.
    case countWhere = "count_where"
    case sumAverageWhere = "sum_average_where"
    /// `enqueueUpdateData`, which returns when the write is durable.
    case update
    /// The newest 50 of the conversation as the first query, without an index.
    case firstQuery = "first_query"
    /// The longest time for which one job held the engine's queue, during that query and the first
    /// aggregations and listener.
    case longestStep = "longest_step"

    static let sizes = [1_000, 11_000, 100_000, 1_000_000]

    /// The limit in microseconds, at every size.
    var limit: Double? {
        switch self {
        case .rowsData: 150
        case .document: 25
        case .count, .sumAverage, .countKept, .sumAverageKept, .countWhere, .sumAverageWhere: 1_000
        // The limit is a frame of a screen.
        case .longestStep: 8_000
        default: nil
        }
    }

    /// The maximum ratio to raw SQLite in the same run, if raw SQLite performs the step.
    var worstRatio: Double? { self == .firstQuery ? ClientFigure.worstRatio : nil }

    /// The maximum ratio of the time at the largest size to the time at ``flatFrom``.
    static let worstGrowth = 1.2
    static let flatFrom = 11_000
    /// True if the time must not grow. The first query has no index, and reads all documents.
    var isFlat: Bool { !Self.firsts.contains(self) }
    /// The steps of a process without earlier queries.
    static let firsts = [firstQuery, longestStep]
}

/// The work of one process for the caller's steps.
enum CallerPart: String {
    /// Fills the cache.
    case load
    /// Runs the query for the first time.
    case first
    /// Runs the query again and builds the index, as an idle engine does.
    case index
    case reads
    case writes
}

/// A reported figure: a line of JSON.
struct CallerLine: Encodable {
    var suite = "caller"
    let step: String
    let n: Int
    /// The median of the rounds, each of which is a median.
    let figure: Double
    /// The figure of the fastest round.
    let best: Double
    let unit: String
    /// The figure of raw SQLite for the same step in the same run.
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

    /// Reports the ratio of a step's time among many documents to its time among few.
    init(growthOf step: CallerStep, count: Int, few: [Double], many: [Double]) {
        self.step = step.rawValue + "_growth"
        n = count
        figure = many.median / few.median
        best = many.min()! / few.min()!
        unit = "times"
        limit = CallerStep.worstGrowth
        holds = figure <= CallerStep.worstGrowth
    }

    /// Reports another figure of a process, without a limit.
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
