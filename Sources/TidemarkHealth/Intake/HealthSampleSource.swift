public import Foundation
public import TidemarkWords

/// Where samples come from as they are measured: HealthKit, or a ``ScriptedHealthSource``.
///
/// Shaped like HealthKit's anchored and observer queries. Samples come in the order in which they were
/// recorded, which is not that of their times, and each page tells what was deleted too.
public protocol HealthSampleSource: Sendable {
    /// What was recorded and deleted since a page.
    ///
    /// - Parameters:
    ///   - kind: Of one kind: each has an anchor of its own.
    ///   - anchor: Of the page before; nil for everything there is.
    ///   - limit: How many samples and deletions at most.
    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage

    /// The newest samples that begin in a stretch of time, for what a screen shows first.
    ///
    /// - Parameters:
    ///   - kind: Of one kind.
    ///   - range: When they begin.
    ///   - limit: How many at most.
    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample]

    /// Kinds of which there is something new, from now on, until the stream is dropped.
    func updates() -> AsyncStream<HealthKind>
}

/// Where a source's next page begins: the source's own bytes.
public struct HealthAnchor: Hashable, Sendable {
    public let data: Data

    public init(_ data: Data) { self.data = data }
}

/// One page of a source.
public struct HealthSamplePage: Hashable, Sendable {
    public var samples: [HealthSample]
    public var deleted: Set<UUID>
    /// Behind this page.
    public var anchor: HealthAnchor
    /// Whether nothing follows for now.
    public var isLast: Bool

    /// - Parameters:
    ///   - samples: In the order in which they were recorded.
    ///   - deleted: The ids of samples that are gone.
    ///   - anchor: Behind this page.
    ///   - isLast: Whether nothing follows for now.
    public init(
        _ samples: [HealthSample], deleted: Set<UUID> = [], anchor: HealthAnchor, isLast: Bool
    ) {
        self.samples = samples
        self.deleted = deleted
        self.anchor = anchor
        self.isLast = isLast
    }
}

/// Why a source gave nothing.
public enum HealthSourceError: Error, Hashable, Sendable {
    /// The device is locked, and health data cannot be read.
    case locked
    /// The person has not allowed it.
    case refused
    /// It answered and came no further.
    case stalled
    case failed(detail: String)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// One sentence for a person.
    public var sentence: Sentence {
        switch self {
        case .locked:
            Sentence("health.locked", "Unlock this device to bring health data up to date.")
        case .refused:
            Sentence(
                "health.refused", "Allow this app to read health data, in the device's settings.")
        case .stalled:
            Sentence(
                "health.stalled",
                "Health data do not arrive. Please tell the makers of this app.")
        case .failed(let detail):
            Sentence(
                "health.failed", "Health data cannot be read just now: %1$@.",
                arguments: [detail])
        }
    }
}

extension HealthSourceError: CustomStringConvertible {
    public var description: String { message }
}
