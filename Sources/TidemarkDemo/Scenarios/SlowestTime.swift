/// How long the slowest of many took: the 99th percentile where there are enough of them for one, else
/// the slowest.
///
/// Of 40 values a 99th percentile is the slowest one under another name, so it is not called so.
struct SlowestTime: Hashable, Sendable {
    /// Of which there is a 99th percentile.
    static let enough = 200

    let milliseconds: Double
    /// `p99 of 200`, or `slowest of 40`.
    let name: String

    /// - Returns: Nil where there is nothing, and where that one never came.
    init?(_ times: [Double]) {
        let isEnough = times.count >= Self.enough
        guard let value = isEnough ? times.p99 : times.share(1) else { return nil }
        milliseconds = value
        name = isEnough ? "p99 of \(times.count)" : "slowest of \(times.count)"
    }
}

extension [Double] {
    /// What this share of them does not exceed; nil where there is none, and where it is infinite.
    func share(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        let rank = Int((Double(count) * share).rounded(.up))
        let value = sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
        return value.isFinite ? value : nil
    }

    /// Nil where there are too few for one.
    var p99: Double? { count >= SlowestTime.enough ? share(0.99) : nil }
}
