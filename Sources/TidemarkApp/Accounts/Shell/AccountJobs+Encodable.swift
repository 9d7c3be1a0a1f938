public import Tidemark

// Profiles as values of an app's own type, encoded as `setData(from:)` would.

extension AccountJobs {
    /// Makes the account and its profile: ``signUp(_:profile:step:)`` for a profile of a type of its own.
    ///
    /// - Throws: What the encoder does for a value that no document can hold, and `CredentialStoreError`
    ///   when the store cannot be read: nothing has begun then.
    public func signUp(
        _ way: Way, profile: some Encodable & Sendable, step: Int = 0,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        try signUp(way, profile: try encoder.fields(of: profile), step: step)
    }

    /// Writes the profile of somebody who is signed in and has none: ``completeProfile(_:step:)`` for a
    /// profile of a type of its own.
    public func completeProfile(
        _ profile: some Encodable & Sendable, step: Int = 0,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        completeProfile(try encoder.fields(of: profile), step: step)
    }

    /// Keeps how far the person has come, and what has been filled in so far. Asks no server.
    public func keep(
        step: Int, draft: some Encodable & Sendable,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        try keep(step: step, profile: try encoder.fields(of: draft))
    }

    /// What has been filled in so far, also by an earlier run of the app; nil for nothing.
    ///
    /// - Throws: What the decoder does when it is no such value, and ``LaunchFiles/Failure``.
    public nonisolated func draft<Draft: Decodable>(
        as type: Draft.Type, decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> Draft? {
        guard let fields: MapValue = try draft() else { return nil }
        return try decoder.decode(type, fromFields: fields)
    }
}
