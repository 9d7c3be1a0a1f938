import TidemarkModel

/// A bundle that is being loaded in parts.
///
/// Documents are stored as they arrive. Their membership in query results is stored under targets
/// that count as abandoned until the bundle is complete. The remains of an incomplete load are
/// removed a minute later, or a minute after the next launch.
package struct BundleLoad: Sendable {
    /// The maximum number of queries. They are kept until the end, and each has a target.
    package static let maxQueries = 1_000

    let number: UInt64
    let id: String
    let createTime: Timestamp
    package var queries: [NamedQuery] = []
}
