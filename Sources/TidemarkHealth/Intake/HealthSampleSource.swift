public import Foundation
public import TidemarkWords

/// A source of samples as they are measured: HealthKit, or a ``ScriptedHealthSource``.
///
/// The protocol has the form of HealthKit's anchored and observer queries. Samples arrive in the
/// order in which they were recorded, which differs from the order of their times, and each page
/// lists deleted samples too.
public protocol HealthSampleSource: Sendable {
    /// Returns the samples that were recorded and deleted since a page.
    ///
    /// - Parameters:
    ///   - kind: The kind of the samples. Each kind has a separate anchor.
    ///   - anchor: The anchor of the previous page; nil to begin with the first sample.
    ///   - limit: The maximum number of samples and deletions.
    func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage

    /// Returns the newest samples that begin in a range of time, for the first view of a screen.
    ///
    /// - Parameters:
    ///   - kind: The kind of the samples.
    ///   - range: The range of the starts of the samples.
    ///   - limit: The maximum number of samples.
    func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample]

    /// Returns the announcements of new samples, from now on, until the stream is dropped. Its
    /// reader calls ``HealthUpdate/stored()`` for each, after the samples are stored.
    func updates() -> AsyncStream<HealthUpdate>
}

/// The position of a source's next page, as the source's own bytes.
public struct HealthAnchor: Hashable, Sendable {
    public let data: Data

    public init(_ data: Data) { self.data = data }
}

/// A page of a source.
public struct HealthSamplePage: Hashable, Sendable {
    public var samples: [HealthSample]
    public var deleted: Set<UUID>
    /// The position behind this page.
    public var anchor: HealthAnchor
    /// True if nothing follows for now.
    public var isLast: Bool

    /// - Parameters:
    ///   - samples: The samples in the order in which they were recorded.
    ///   - deleted: The ids of deleted samples.
    ///   - anchor: The position behind this page.
    ///   - isLast: True if nothing follows for now.
    public init(
        _ samples: [HealthSample], deleted: Set<UUID> = [], anchor: HealthAnchor, isLast: Bool
    ) {
        self.samples = samples
        self.deleted = deleted
        self.anchor = anchor
        self.isLast = isLast
    }
}

/// The reason why a source returned no samples.
public enum HealthSourceError: Error, Hashable, Sendable {
    /// The device is locked, and health data cannot be read.
    case locked
    /// The user has not allowed access.
    case refused
    /// The source answered, but its position did not advance.
    case stalled
    case failed(detail: String)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app.
    public var sentence: Sentence {
        switch self {
        case .locked:
            Sentence("health.locked", "Unlock this device to update health data.")
        case .refused:
            Sentence(
                "health.refused", "Allow this app to read health data, in the device's settings.")
        case .stalled:
            Sentence(
                "health.stalled",
                "Health data can't be loaded. Please contact support.")
        case .failed(let detail):
            Sentence(
                "health.failed", "Health data can't be read right now: %1$@.",
                arguments: [detail])
        }
    }
}

extension HealthSourceError: CustomStringConvertible {
    public var description: String { message }
}
