public import Observation
public import Tidemark

/// ``BlockedUsers`` for a view to bind to.
@MainActor @Observable
public final class BlockedUsersModel {
    /// The latest first.
    public private(set) var entries: [BlockedUsers.Entry] = []
    /// Skeletons while it is `loading`, a sentence when it is `empty`.
    public private(set) var phase = ListPhase.loading
    /// Why details are old or not there; nil when all are as they should be.
    public private(set) var detailsError: FirestoreError?

    @ObservationIgnored private let users: BlockedUsers
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Shows what the device holds, and keeps it right while the model is there.
    ///
    /// - Parameter users: The list to show.
    public init(_ users: BlockedUsers) {
        self.users = users
        let states = users.states
        watching = Task { [weak self] in
            await users.start()
            for await state in states { self?.show(state) }
        }
    }

    deinit {
        watching?.cancel()
        let users = users
        Task { await users.stop() }
    }

    /// Whether a user is on the list as it is shown.
    ///
    /// - Parameter id: The user's id.
    public func isBlocked(_ id: String) -> Bool {
        entries.contains { $0.id.hasSameBytes(as: id) }
    }

    /// As ``BlockedUsers/block(_:fields:)``.
    ///
    /// - Parameter id: The user's id.
    /// - Throws: What the disk answered.
    public func block(_ id: String) async throws(FirestoreError) { try await users.block(id) }

    /// As ``BlockedUsers/unblock(_:)``.
    ///
    /// - Parameter id: The user's id.
    /// - Throws: What the disk answered.
    public func unblock(_ id: String) async throws(FirestoreError) { try await users.unblock(id) }

    /// Brings it up to date now; what fails is the phase.
    public func refresh() async { _ = try? await users.sync() }

    private func show(_ state: BlockedUsers.State) {
        entries = state.entries
        phase = state.phase
        detailsError = state.detailsError
    }
}
