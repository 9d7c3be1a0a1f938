public import Observation
public import Tidemark

/// ``BlockedUsers`` that a view can bind to.
@MainActor @Observable
public final class BlockedUsersModel {
    /// The entries, latest first.
    public private(set) var entries: [BlockedUsers.Entry] = []
    /// The phase. A view draws skeletons while it is `loading`, and a sentence if it is `empty`.
    public private(set) var phase = ListPhase.loading
    /// The reason why details are old or missing; nil if all are up to date.
    public private(set) var detailsError: FirestoreError?

    @ObservationIgnored private let users: BlockedUsers
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Shows the device's list, and updates the list until the model is released.
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

    /// Returns true if a user is on the shown list.
    ///
    /// - Parameter id: The user's id.
    public func isBlocked(_ id: String) -> Bool {
        entries.contains { $0.id.hasSameBytes(as: id) }
    }

    /// See ``BlockedUsers/block(_:fields:)``.
    ///
    /// - Parameter id: The user's id.
    /// - Throws: The error of the disk.
    public func block(_ id: String) async throws(FirestoreError) { try await users.block(id) }

    /// See ``BlockedUsers/unblock(_:)``.
    ///
    /// - Parameter id: The user's id.
    /// - Throws: The error of the disk.
    public func unblock(_ id: String) async throws(FirestoreError) { try await users.unblock(id) }

    /// Updates the list now. The phase shows an error.
    public func refresh() async { _ = try? await users.sync() }

    private func show(_ state: BlockedUsers.State) {
        entries = state.entries
        phase = state.phase
        detailsError = state.detailsError
    }
}
