import Synchronization
import Tidemark
import TidemarkApp

/// A profile store that a test can take offline.
final class CutLine: ProfileStore {
    let base = Mutex<FirestoreProfiles?>(nil)
    private let isOffline: @Sendable () -> Bool

    init(isOffline: @escaping @Sendable () -> Bool) { self.isOffline = isOffline }

    private var line: FirestoreProfiles? { isOffline() ? nil : base.withLock { $0 } }

    func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer {
        await line?.create(user, fields, id: id) ?? .unreachable
    }
    func compare(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileComparison {
        await line?.compare(user, fields, id: id) ?? .unreachable
    }
    func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer {
        await line?.remove(user, onlyID: onlyID) ?? .unreachable
    }
    func look(for user: UserID) async -> ProfileReading {
        await line?.look(for: user) ?? .unavailable
    }
}
