public import Tidemark

/// What predictions were worth: which of them the user confirmed, and which cost reads for nothing. Pure.
///
/// What the warmings cost in reads is counted by the meter, under ``Prefetcher/label``.
public struct PrefetchLedger: Hashable, Sendable {
    /// A context that is not opened so long after it was warmed was warmed for nothing.
    public static let patience = Duration.seconds(3_600)

    /// Contexts that were opened after they had been warmed.
    public private(set) var hits = 0
    /// Contexts that were warmed, and not opened in time.
    public private(set) var misses = 0
    /// Contexts that were opened and had not been warmed.
    public private(set) var cold = 0
    /// When those were warmed that nobody has opened yet; one for each context.
    private var waiting: [String: Timestamp] = [:]

    public init() {}

    /// The share of warmings that were opened in time; nil before the first was.
    public var hitRate: Double? {
        hits + misses == 0 ? nil : Double(hits) / Double(hits + misses)
    }

    /// Takes note that a context was brought up to date before it was opened.
    public mutating func warmed(_ context: String, at time: Timestamp) {
        expire(at: time)
        // Warmed again before anybody came: the first was for nothing.
        if waiting.updateValue(time, forKey: context) != nil { misses += 1 }
    }

    /// Takes note that the user opened a context.
    public mutating func opened(_ context: String, at time: Timestamp) {
        expire(at: time)
        if waiting.removeValue(forKey: context) == nil { cold += 1 } else { hits += 1 }
    }

    /// Counts what was warmed too long ago.
    public mutating func expire(at time: Timestamp) {
        let oldest = time.advanced(by: .zero - Self.patience)
        for (context, at) in waiting where at < oldest {
            waiting[context] = nil
            misses += 1
        }
    }
}
