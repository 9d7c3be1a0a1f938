import TidemarkSystem

/// The maximum number of open connections of each port, computed from the limit of file
/// descriptors.
///
/// A fourth of the descriptors, at least 32 and at most 512, is reserved for files. Every port has
/// a separate share of the rest, so a full port does not affect the others. A connection of the
/// objects needs two descriptors, because its file is open too. A connection behind a network's
/// gate needs two more, those of the gate.
struct PortShares: Equatable {
    let firestore: Int
    let accounts: Int
    let control: Int
    let requests: Int
    let objects: Int

    /// - Parameters:
    ///   - descriptors: The soft limit.
    ///   - hasObjects: True if the server has objects, whose share is a half of Firestore's.
    ///   - hasGates: True if gates stand in front of the ports for documents and for objects.
    init(descriptors: Int, hasObjects: Bool = false, hasGates: Bool = false) {
        let kept = min(max(descriptors / 4, 32), 512)
        let rest = max(descriptors - kept, 32)
        firestore = min(hasObjects ? rest / 4 : rest / 2, 10_000) / (hasGates ? 3 : 1)
        accounts = min(rest / 4, 2_000)
        control = min(rest / 8, 1_000)
        requests = min(rest / 16, 200)
        objects = hasObjects ? min(rest / 8, 2_000) / (hasGates ? 2 : 1) : 0
    }
}
