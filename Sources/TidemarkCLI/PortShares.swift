import TidemarkSystem

/// How many connections each port may have open, of the descriptors that the system grants.
///
/// A fourth of them, at least 32 and at most 512, is kept for files. Of the rest each port has a part of its
/// own, so that connections that fill one port leave the others as they are.
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
