extension Firestore {
    /// Makes another user the client's, in one step.
    ///
    /// Listeners go on: they are told the new user's rows. Nothing that one user has read or written is
    /// visible to another. What the user before has pending stays in that user's queue, and is sent
    /// when it is the user again. Reads that are under way throw `cancelled`.
    ///
    /// Returns once the switch is done. While the new user's cache cannot be opened it is tried again,
    /// and until then every other call is refused with the reason.
    ///
    /// - Parameters:
    ///   - user: The app's own id of at most 128 bytes; nil when nobody is signed in.
    ///   - erasingPrevious: Deletes what is kept of the user before, with the writes that were never
    ///     sent: what a sign-out on a shared device asks for. Their receipts throw `cancelled`.
    /// - Throws: `invalidArgument` for an id that is empty or too long, and for erasing a cache that
    ///   users share.
    public func changeUser(
        to user: String?, erasingPrevious: Bool = false
    ) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.changeUser(to: user, erasesPrevious: erasingPrevious) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }
}
