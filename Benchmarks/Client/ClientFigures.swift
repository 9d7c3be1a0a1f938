/// A step of the client's workload: what the peer takes for it, and what we may take at most.
///
/// The peer is Google's own client core. Steps and figures are those of `peer-client-perf.md` in the
/// reference, measured on two cores like those our thresholds are for, without a wire. Its queries
/// are compared as they come, with nothing configured: ours make their index by themselves. Each is the
/// median of three runs on another machine.
struct ClientFigure: Sendable {
    let step: String
    let unit: String
    /// The peer's, for each of ``sizes``; empty where it has none.
    var peer: [Double] = []
    /// The peer's with an index that was made by hand and is filled, which takes it hours in an app.
    var peerIndexed: [Double] = []
    /// Ours, for each of ``sizes``; empty where none is set.
    var limits: [Double?] = []
    /// Whether more is better.
    var isRate = false
    /// Whether raw SQLite is held against it too.
    var isRatioBar = true
    /// True if raw SQLite performs the same step.
    var hasRaw = true

    static let sizes = [1_000, 11_000, 100_000]
    /// No step may take more than this many times what raw SQLite takes for the same.
    static let worstRatio = 3.0
    /// Nor, with an encrypted cache, more than this many times what it takes without.
    static let worstEncryptedRatio = 1.3

    /// True if a run of all parts has samples of it.
    func isMeasured(_ comparison: ClientSuite.Comparison, of count: Int) -> Bool {
        // The log of a small cache is too short for its move to be compared.
        !(comparison == .encryption && step == "log_move" && count == Self.sizes[0])
    }

    /// True if the other side of a comparison has samples of it too.
    func hasYardstick(_ comparison: ClientSuite.Comparison) -> Bool {
        comparison == .encryption || hasRaw
    }

    func peer(of count: Int) -> Double? { Self.value(of: count, peer) }
    func peerIndexed(of count: Int) -> Double? { Self.value(of: count, peerIndexed) }

    private static func value(of count: Int, _ values: [Double]) -> Double? {
        sizes.firstIndex(of: count).flatMap { values.isEmpty ? nil : values[$0] }
    }

    func bar(of count: Int) -> Bar? {
        guard let index = Self.sizes.firstIndex(of: count), !limits.isEmpty,
            let limit = limits[index]
        else { return nil }
        return isRate ? Bar(step, atLeast: limit, unit) : Bar(step, below: limit, unit)
    }

    /// Of several rounds the fastest: the bars are for a machine that does nothing else, and one that others
    /// share is as fast as itself in some rounds only (Decisions/0021). Of memory, the most.
    func best(of rounds: [Double]) -> Double {
        (isRate || unit == "MB" ? rounds.max() : rounds.min())!
    }

    /// How many times as long as raw SQLite.
    func ratio(_ figure: Double, _ raw: Double) -> Double { isRate ? raw / figure : figure / raw }
}

/// The thresholds: two cores, release, nothing else running.
extension ClientFigure {
    static let all = loads + queries + writes + memory + processor

    private static let loads = [
        // With the index of the conversation query kept up to date, which the peer does not have.
        ClientFigure(
            step: "a_load", unit: "documents/s", peer: [51_200, 42_800, 31_700],
            limits: [nil, 42_800, 31_700], isRate: true),
        ClientFigure(step: "a_load_no_index", unit: "documents/s", isRate: true),
        // Their index takes hours to be filled in an app; this is the work alone.
        ClientFigure(
            step: "backfill_b", unit: "ms", peer: [28, 363, 4_301], limits: [nil, nil, 1_000]),
        // Beside SQLite's own making of an index, in one go that holds the program until it is done.
        ClientFigure(step: "backfill_b_at_once", unit: "ms", isRatioBar: false),
        ClientFigure(step: "backfill_b_slice", unit: "ms", limits: [8, 8, 8], hasRaw: false),
        // The one other thing that holds an idle engine: no bar is set, and it is no secret.
        ClientFigure(step: "log_move", unit: "ms", hasRaw: false),
    ]

    private static let queries = [
        ClientFigure(
            step: "cold_b", unit: "ms", peer: [13.0, 100, 884], peerIndexed: [6.7, 8.7, 17.9],
            limits: [12, 12, 12]),
        // The one time that there is no index yet.
        ClientFigure(step: "c_conv_first", unit: "ms", peer: [6.4, 100, 681]),
        ClientFigure(
            step: "c_conv_warm", unit: "ms", peer: [6.4, 100, 681], peerIndexed: [1.9, 2.0, 2.0],
            limits: [1, 1, 1]),
        ClientFigure(
            step: "c_conv_resumed", unit: "ms", peer: [1.7, 2.0, 1.8], limits: [1, 1, 1]),
        ClientFigure(step: "d_newest_first", unit: "ms", peer: [5.7, 63, 679]),
        ClientFigure(
            step: "d_newest", unit: "ms", peer: [5.7, 63, 679], peerIndexed: [1.05, 1.14, 1.25],
            limits: [0.6, 0.6, 0.6]),
        ClientFigure(
            step: "e_all_limit1", unit: "ms", peer: [26.5, 383, 4_904], limits: [0.2, 0.2, 0.2]),
        ClientFigure(step: "cold_p", unit: "ms", peer: [5.8, 11.9, 16.2], limits: [12, 12, 12]),
        // The first look at these documents, whose pages the system has and the program has not: no bar, and
        // no secret.
        ClientFigure(step: "f_lookup_first", unit: "µs"),
        ClientFigure(step: "f_lookup", unit: "µs", peer: [7.3, 7.9, 9.0], limits: [8, 8, 8]),
    ]

    private static let writes = [
        // On a disk that syncs for nothing, because the peer never syncs.
        ClientFigure(step: "g_write", unit: "µs", peer: [32, 42, 55], limits: [64, 84, 110]),
        // Beside an insertion alone, of a program that does not ask what there is of the document.
        ClientFigure(step: "g_write_unread", unit: "µs", isRatioBar: false),
        ClientFigure(step: "g_write_synced", unit: "µs"),
        ClientFigure(
            step: "g_conv_with_500_pending", unit: "ms", peer: [13.5, 71, 762],
            limits: [2, 2, 2]),
        ClientFigure(step: "g_ack", unit: "µs", peer: [182, 182, 145]),
        ClientFigure(
            step: "i_update_one", unit: "µs", peer: [111, 123, 132], limits: [100, 100, 100]),
    ]

    private static let memory = [
        ClientFigure(
            step: "memory", unit: "MB", peer: [17, 61, 413], limits: [60, 60, 60],
            isRatioBar: false, hasRaw: false),
        // In the peer's notes: 14, 36 and 216 MiB.
        ClientFigure(
            step: "memory_cold", unit: "MB", peer: [14.7, 37.7, 226], limits: [60, 60, 60],
            isRatioBar: false, hasRaw: false),
        ClientFigure(step: "size", unit: "MB", peer: [0.8, 8.0, 70], isRatioBar: false),
    ]

    /// The processor time of each part's process: set-up, steps and all threads. A wall time does
    /// not show the work of a second thread.
    private static let processor = ClientPart.allCases.map { part in
        ClientFigure(step: part.processorStep, unit: "s of CPU", isRatioBar: false)
    }
}
