/// The slowest of many times: the 99th percentile if there are enough values, else the slowest
/// value.
///
/// The 99th percentile of 40 values would be the slowest value, so it has that name.
struct SlowestTime: Hashable, Sendable {
    /// The minimum number of values for a 99th percentile.
    static let enough = 200

    let milliseconds: Double
    /// The name with the number of values: `p99 of 200` or `slowest of 40`.
    let name: String

    /// - Returns: A value unless the list is empty or the slowest time is infinite.
    init?(_ times: [Double]) {
        let isEnough = times.count >= Self.enough
        guard let value = isEnough ? times.p99 : times.share(1) else { return nil }
        milliseconds = value
        name = isEnough ? "p99 of \(times.count)" : "slowest of \(times.count)"
    }
}

extension [Double] {
    /// Returns the value that this share of the values does not exceed; nil if the list is empty or
    /// the value is infinite.
    func share(_ share: Double) -> Double? {
        guard !isEmpty else { return nil }
        let rank = Int((Double(count) * share).rounded(.up))
        let value = sorted()[Swift.min(Swift.max(rank, 1), count) - 1]
        return value.isFinite ? value : nil
    }

    /// The 99th percentile; nil if there are too few values.
    var p99: Double? { count >= SlowestTime.enough ? share(0.99) : nil }
}
