/// A request of a job to sign in.
public struct SignInRequest: Sendable {
    /// The proof of the user's identity.
    public enum Proof: Sendable {
        case password(email: String, String)
        case provider(ProviderCredential)
        case customToken(String)
    }

    public let proof: Proof
    /// True if an account is created if there is none. False if the job only looks for an account
    /// to remove; some servers create one also then, which the job removes.
    public let mayCreate: Bool
    /// Called between the server's answer and the storage of the session.
    let answered: @Sendable () -> Void

    public init(_ proof: Proof, mayCreate: Bool = true) {
        self.init(proof, mayCreate: mayCreate) {}
    }

    init(_ proof: Proof, mayCreate: Bool, answered: @escaping @Sendable () -> Void) {
        self.proof = proof
        self.mayCreate = mayCreate
        self.answered = answered
    }
}

/// The result of a sign-in.
public struct SignedIn: Hashable, Sendable {
    public let user: UserID
    /// True if the server created the account for this request.
    public let isNew: Bool

    public init(_ user: UserID, isNew: Bool) {
        self.user = user
        self.isNew = isNew
    }
}
