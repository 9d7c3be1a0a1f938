import TidemarkSystem

/// The maximum number of open connections of each port, computed from the limit of file
/// descriptors.
///
/// A fourth of the descriptors, at least 32 and at most 512, is reserved for files. Every port has
/// a separate share of the rest, so a full port does not affect the others.
struct PortShares: Equatable {
    let firestore: Int
    let accounts: Int
    let control: Int
    let requests: Int

    /// - Parameter descriptors: The soft limit.
    init(descriptors: Int) {
        let kept = min(max(descriptors / 4, 32), 512)
        let rest = max(descriptors - kept, 32)
        firestore = min(rest / 2, 10_000)
        accounts = min(rest / 4, 2_000)
        control = min(rest / 8, 1_000)
        requests = min(rest / 16, 200)
    }
}
