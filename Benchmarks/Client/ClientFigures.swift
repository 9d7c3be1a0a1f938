/// A step of the client's workload, with the peer's figures and our limits.
///
/// The peer is Google's own client core. Steps and figures are those of `peer-client-perf.md` in
/// the reference, which were measured without a wire on two cores like those of our limits. The
/// peer's queries have no configuration, while our engine builds its indexes by itself. Each of the
/// peer's figures is the median of three runs on another machine.
struct ClientFigure: Sendable {
    let step: String
    let unit: String
    /// The peer's figures, one for each of ``sizes``; empty if there are none.
    var peer: [Double] = []
    /// The peer's figures with a filled index that was created by hand. Filling the index takes
    /// hours in an app.
    var peerIndexed: [Double] = []
    /// Our limits, one for each of ``sizes``; empty if there are none.
    var limits: [Double?] = []
    /// True if more is better.
    var isRate = false
    /// True if the ratio to raw SQLite has a limit, too.
    var isRatioBar = true
    /// True if raw SQLite performs the same step.
    var hasRaw = true

    static let sizes = [1_000, 11_000, 100_000]
    /// The maximum ratio of a step's time to that of raw SQLite.
    static let worstRatio = 3.0
    /// The maximum ratio of a step's time with an encrypted cache to its time without encryption.
    static let worstEncryptedRatio = 1.3

    /// True if a run of all parts has samples of the step.
    func isMeasured(of count: Int) -> Bool {
        // The log of a small cache is too short to be moved.
        !(step == "log_move" && count == Self.sizes[0])
    }

    /// True if the other side of a comparison has samples of the step, too.
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

    /// Returns the fastest of the rounds, or the largest amount of memory. The bars are for a
    /// machine that does nothing else, and a shared machine has its full speed only in some rounds
    /// (Decisions/0021).
    func best(of rounds: [Double]) -> Double {
        (isRate || unit == "MB" ? rounds.max() : rounds.min())!
    }

    /// Returns the ratio of our time to that of raw SQLite.
    func ratio(_ figure: Double, _ raw: Double) -> Double { isRate ? raw / figure : figure / raw }
}

/// The limits: two cores, a release build, nothing else running.
extension ClientFigure {
    static let all = loads + queries + writes + memory + processor

    private static let loads = [
        // The load keeps the index of the conversation query up to date. The peer has no such
        // index.
        ClientFigure(
            step: "a_load", unit: "documents/s", peer: [51_200, 42_800, 31_700],
            limits: [nil, 42_800, 31_700], isRate: true),
        ClientFigure(step: "a_load_no_index", unit: "documents/s", isRate: true),
        // The peer's index needs hours in an app; this is the work only.
        ClientFigure(
            step: "backfill_b", unit: "ms", peer: [28, 363, 4_301], limits: [nil, nil, 1_000]),
        // The yardstick is SQLite's own creation of an index, which holds the program until it is
        // done.
        ClientFigure(step: "backfill_b_at_once", unit: "ms", isRatioBar: false),
        ClientFigure(step: "backfill_b_slice", unit: "ms", limits: [8, 8, 8], hasRaw: false),
        // The move of the log is the only other work that holds an idle engine. It has no bar, but
        // it is reported.
        ClientFigure(step: "log_move", unit: "ms", hasRaw: false),
    ]

    private static let queries = [
        ClientFigure(
            step: "cold_b", unit: "ms", peer: [13.0, 100, 884], peerIndexed: [6.7, 8.7, 17.9],
            limits: [12, 12, 12]),
        // This is the only query without an index.
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
        // This is the first read of these documents. Their pages are in the system's cache but not
        // in the program's. It has no bar, but it is reported.
        ClientFigure(step: "f_lookup_first", unit: "µs"),
        ClientFigure(step: "f_lookup", unit: "µs", peer: [7.3, 7.9, 9.0], limits: [8, 8, 8]),
    ]

    private static let writes = [
        // The disk syncs at no cost, because the peer never syncs.
        ClientFigure(step: "g_write", unit: "µs", peer: [32, 42, 55], limits: [64, 84, 110]),
        // The yardstick is an insertion by a program that does not read the document first.
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
        // The peer's notes say 14, 36 and 216 MiB.
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
