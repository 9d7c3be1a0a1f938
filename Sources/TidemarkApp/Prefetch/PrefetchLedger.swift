public import Tidemark

/// The value of predictions: the confirmed predictions, and those that cost reads without use. A
/// pure value.
///
/// The meter counts the reads of the warmings, under ``Prefetcher/label``.
public struct PrefetchLedger: Hashable, Sendable {
    /// The time after which an unopened context counts as warmed without use.
    public static let patience = Duration.seconds(3_600)

    /// The number of contexts that were opened after they had been warmed.
    public private(set) var hits = 0
    /// The number of contexts that were warmed, and not opened in time.
    public private(set) var misses = 0
    /// The number of contexts that were opened and had not been warmed.
    public private(set) var cold = 0
    /// The warming times of contexts that were not opened yet, one for each context.
    private var waiting: [String: Timestamp] = [:]

    public init() {}

    /// The share of warmings that were opened in time; nil before the first.
    public var hitRate: Double? {
        hits + misses == 0 ? nil : Double(hits) / Double(hits + misses)
    }

    /// Records that a context was updated before it was opened.
    public mutating func warmed(_ context: String, at time: Timestamp) {
        expire(at: time)
        // The context was warmed again before it was opened: the first warming had no use.
        if waiting.updateValue(time, forKey: context) != nil { misses += 1 }
    }

    /// Records that the user opened a context.
    public mutating func opened(_ context: String, at time: Timestamp) {
        expire(at: time)
        if waiting.removeValue(forKey: context) == nil { cold += 1 } else { hits += 1 }
    }

    /// Counts the expired warmings as misses.
    public mutating func expire(at time: Timestamp) {
        let oldest = time.advanced(by: .zero - Self.patience)
        for (context, at) in waiting where at < oldest {
            waiting[context] = nil
            misses += 1
        }
    }
}
