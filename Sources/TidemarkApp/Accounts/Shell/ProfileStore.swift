public import Tidemark

/// A store of profiles, with one document per user.
public protocol ProfileStore: Sendable {
    /// Creates the profile, if there is none. Asks the server itself: a write in the device's queue
    /// is no profile.
    ///
    /// - Parameters:
    ///   - user: The account's id, which names the profile.
    ///   - fields: The profile's fields.
    ///   - id: The sign-up's id, which is written into the profile.
    /// - Returns: The result: the profile was created, existed already, or could not be created.
    func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer
    /// Reads the profile back from the server.
    func compare(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileComparison
    /// Removes the profile.
    ///
    /// - Parameters:
    ///   - user: The account's id, which names the profile.
    ///   - onlyID: Removes the profile only if this sign-up made it; nil for any.
    func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer
    /// Asks the server if the user has a profile.
    func look(for user: UserID) async -> ProfileReading
}

/// Profiles in a collection of a `Firestore`, each under its user's id.
public struct FirestoreProfiles: ProfileStore {
    /// The maximum duration of a request.
    static let timeout = Duration.seconds(25)

    private let firestore: Firestore
    private let collection: String
    private let idField: String

    /// - Parameters:
    ///   - firestore: The client that reads and writes the profiles.
    ///   - collection: The collection's path, as in `users`.
    ///   - idField: The field of a profile with the id of the sign-up that made it.
    public init(_ firestore: Firestore, collection: String = "users", idField: String = "signUp") {
        self.firestore = firestore
        self.collection = collection
        self.idField = idField
    }

    public func create(_ user: UserID, _ fields: MapValue, id: String) async -> ProfileAnswer {
        guard let path = path(of: user) else { return .refused }
        var fields = fields
        fields[idField] = .string(id)
        let mutation = Mutation(path: path, .set(fields), precondition: .exists(false))
        do throws(RPCStatus) {
            _ = try await transport.commit([mutation], context)
            return .created
        } catch {
            return switch error.code {
            case .alreadyExists, .failedPrecondition: .exists
            case .permissionDenied, .invalidArgument, .notFound, .unimplemented, .outOfRange:
                .refused
            default: .unreachable
            }
        }
    }

    public func compare(
        _ user: UserID, _ fields: MapValue, id: String
    ) async -> ProfileComparison {
        switch await read(user) {
        case .failure: return .unreachable
        case .success(nil): return .absent
        case .success(let document?):
            var fields = fields
            fields[idField] = .string(id)
            return document.fields == fields ? .same : .different
        }
    }

    public func look(for user: UserID) async -> ProfileReading {
        switch await read(user) {
        case .failure: .unavailable
        case .success(nil): .missing
        case .success: .found
        }
    }

    public func remove(_ user: UserID, onlyID: String?) async -> RemovalAnswer {
        guard let path = path(of: user) else { return .gone }
        var mutation = Mutation(path: path, .delete)
        if let onlyID {
            switch await read(user) {
            case .failure: return .unreachable
            case .success(nil): return .gone
            case .success(let document?):
                guard document.fields[idField] == .string(onlyID) else { return .notOwn }
                // A change by another writer during this call must not be removed unseen.
                mutation.precondition = .updateTime(document.updateTime)
            }
        }
        do throws(RPCStatus) {
            _ = try await transport.commit([mutation], context)
            return .gone
        } catch {
            return error.code == .notFound ? .gone : .unreachable
        }
    }

    private func read(_ user: UserID) async -> Result<Document?, RPCStatus> {
        guard let path = path(of: user) else { return .success(nil) }
        do throws(RPCStatus) {
            let request = Request.getDocument(GetDocumentRequest(path: path))
            for case .document(let found) in try await transport.replies(to: request, context) {
                return .success(found)
            }
            return .failure(RPCStatus(.internal, "The server sent no document."))
        } catch {
            return error.code == .notFound ? .success(nil) : .failure(error)
        }
    }

    private func path(of user: UserID) -> DocumentPath? {
        try? DocumentPath(collection + "/" + user.text)
    }

    private var transport: any Transport { firestore.environment.transport }

    private var context: CallContext {
        CallContext(
            database: firestore.databaseID, label: firestore.settings.label,
            timeout: Self.timeout, token: firestore.settings.token)
    }
}
