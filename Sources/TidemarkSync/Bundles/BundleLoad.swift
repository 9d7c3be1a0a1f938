import TidemarkModel

/// A bundle that is being loaded, part by part, by whoever reads it.
///
/// Its documents are stored as they come. Their places in query results are stored too, under targets
/// that count as given up until the bundle is whole: what is left of a load that ended half way is
/// taken out a minute later, or a minute after the next launch.
package struct BundleLoad: Sendable {
    /// They are kept until the end, and each has a target.
    package static let maxQueries = 1_000

    let number: UInt64
    let id: String
    let createTime: Timestamp
    package var queries: [NamedQuery] = []
}
