extension Firestore {
    /// Changes the user of the client, in one step.
    ///
    /// Listeners go on and receive the new user's rows. Nothing that one user has read or written
    /// is visible to another. Pending writes of the previous user stay in that user's queue, and
    /// are sent when that user is back. Reads in flight throw `cancelled`.
    ///
    /// Returns after the change. While the new user's cache cannot be opened, opening it is tried
    /// again, and every other call is refused with the reason.
    ///
    /// - Parameters:
    ///   - user: The app's own id of at most 128 bytes; nil when nobody is signed in.
    ///   - erasingPrevious: Deletes the previous user's data and unsent writes, as a sign-out on a
    ///     shared device needs. Their receipts throw `cancelled`.
    /// - Throws: `invalidArgument` for an id that is empty or too long, and for erasing a cache
    ///   that users share.
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
