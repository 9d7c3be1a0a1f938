import Synchronization

/// Stores decoded pictures and recent failures, both for a limited time. Thread-safe.
final class PictureMemory: Sendable {
    struct Entry: Sendable {
        let picture: Picture
        /// The digest of the file from which the picture was decoded.
        let digest: String
        /// The time until which the picture needs no check, and the rule for its use afterwards;
        /// nil for a picture with a version, which is always valid.
        let validity: Validity?

        func isFresh(at now: Int64) -> Bool { validity?.isFresh(at: now) ?? true }
    }

    private struct State {
        var pictures: CostCache<SizedID, Entry>
        var failures = CostCache<PictureID, (error: PictureError, until: Int64)>(
            limit: PictureMemory.keptFailures)
    }

    private static let keptFailures = 1_000

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(pictures: CostCache(limit: limit))) }

    var bytes: Int { state.withLock { $0.pictures.cost } }
    var count: Int { state.withLock { $0.pictures.count } }

    func entry(_ sized: SizedID) -> Entry? { state.withLock { $0.pictures.value(sized) } }

    func keep(_ entry: Entry, _ sized: SizedID) {
        state.withLock { state in
            _ = state.pictures.insert(entry, for: sized, cost: entry.picture.byteCount)
        }
    }

    func remove(_ id: PictureID) {
        state.withLock { state in
            for sized in state.pictures.keys.filter({ $0.id == id }) {
                _ = state.pictures.remove(sized)
            }
            _ = state.failures.remove(id)
        }
    }

    /// Removes the decoded pictures that were made from another file than this one.
    func remove(_ id: PictureID, otherThan digest: String) {
        state.withLock { state in
            for sized in state.pictures.keys.filter({ $0.id == id })
            where state.pictures.peek(sized)?.digest != digest {
                _ = state.pictures.remove(sized)
            }
        }
    }

    func trim(to bytes: Int) {
        state.withLock { state in
            _ = state.pictures.trim(to: bytes)
            if bytes == 0 { _ = state.failures.trim(to: 0) }
        }
    }

    func failure(_ id: PictureID, now: Int64) -> PictureError? {
        state.withLock { state in
            guard let failure = state.failures.value(id) else { return nil }
            if now < failure.until { return failure.error }
            _ = state.failures.remove(id)
            return nil
        }
    }

    func remember(_ error: PictureError, _ id: PictureID, until: Int64) {
        state.withLock { _ = $0.failures.insert((error, until), for: id, cost: 1) }
    }
}
