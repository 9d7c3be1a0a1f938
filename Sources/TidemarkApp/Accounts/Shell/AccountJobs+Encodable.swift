public import Tidemark

// Profiles as values of an app's own type, with the encoding of `setData(from:)`.

extension AccountJobs {
    /// Creates the account and its profile: ``signUp(_:profile:step:)`` for a profile of the app's
    /// own type.
    ///
    /// - Throws: The encoder's error for a value that no document can contain, and
    ///   `CredentialStoreError` if the store cannot be read. Nothing has begun then.
    public func signUp(
        _ way: Way, profile: some Encodable & Sendable, step: Int = 0,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        try signUp(way, profile: try encoder.fields(of: profile), step: step)
    }

    /// Writes the profile of a signed-in user who has none: ``completeProfile(_:step:)`` for a
    /// profile of the app's own type.
    public func completeProfile(
        _ profile: some Encodable & Sendable, step: Int = 0,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        completeProfile(try encoder.fields(of: profile), step: step)
    }

    /// Keeps the user's step and the input so far. Asks no server.
    public func keep(
        step: Int, draft: some Encodable & Sendable,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws {
        try keep(step: step, profile: try encoder.fields(of: draft))
    }

    /// Returns the input so far, also of an earlier run of the app; nil if there is none.
    ///
    /// - Throws: The decoder's error if the input is no such value, and ``LaunchFiles/Failure``.
    public nonisolated func draft<Draft: Decodable>(
        as type: Draft.Type, decoder: Firestore.Decoder = Firestore.Decoder()
    ) throws -> Draft? {
        guard let fields: MapValue = try draft() else { return nil }
        return try decoder.decode(type, fromFields: fields)
    }
}
