/// What the journal says of a sign-up or a removal: all that the next launch needs to go on with it.
/// Holds no secret.
public struct AccountRecord: Hashable, Sendable, Codable {
    /// How the account is made. Every way can be repeated without making a second account.
    public enum Method: Hashable, Sendable, Codable {
        /// The same address is refused twice; whether the first one was ours shows by signing in.
        case password(email: String)
        /// The provider's subject is the account's identity: the same one signs in again.
        case provider(String)
        /// The token names the user.
        case customToken
        /// For a person who gives no address: one that this installation has made up, with a password
        /// that only its credential store knows. The server's own anonymous accounts cannot be found
        /// again when the answer that made one is lost.
        case installation(address: String)
    }

    /// Whether the account is this sign-up's.
    public enum Provenance: Hashable, Sendable, Codable {
        /// The server said that it was made now.
        case made
        /// It was there when it was asked for again, after an answer that was lost.
        case maybeMade
        /// It was there when it was first asked for.
        case found
    }

    public enum Phase: Hashable, Sendable, Codable {
        /// The person fills in the onboarding. Nothing has been asked of the server, and there may be
        /// an account from before: of a profile that is missing.
        case filling(UserID?)
        /// The account may exist.
        case account
        /// It does, and the person fills in the onboarding: the profile comes last.
        case onboarding(UserID, Provenance)
        /// It does, and the profile may.
        case profile(UserID, Provenance)
        /// The profile was read back: what is left is to say so on this device.
        case flag(UserID)
        /// What the sign-up made is being undone. Nil while nobody knows whether there is an account.
        case undoing(UserID?, Provenance)
        /// The person's account is being deleted, whoever made it.
        case deleting(UserID)
    }

    /// Random, and in the profile that it makes: by it a profile is known to be this sign-up's.
    public var id: String
    public var method: Method
    /// What the profile is to hold, encoded.
    public var profile: [UInt8]
    /// The step of the onboarding, from 0.
    public var step: Int
    public var phase: Phase
    /// Whether the account is made before the onboarding; nil and false where it is made after it.
    public var makesAccountFirst: Bool?

    public init(
        id: String, method: Method, profile: [UInt8], step: Int = 0,
        phase: Phase = .filling(nil), makesAccountFirst: Bool? = nil
    ) {
        precondition(step >= 0 && !id.isEmpty)
        self.id = id
        self.method = method
        self.profile = profile
        self.step = step
        self.phase = phase
        self.makesAccountFirst = makesAccountFirst
    }

    /// Whose it is, once that is known.
    public var user: UserID? {
        switch phase {
        case .filling(let user), .undoing(let user, _): user
        case .account: nil
        case .onboarding(let user, _), .profile(let user, _), .flag(let user), .deleting(let user):
            user
        }
    }

    /// A sign-in that brings nothing along leaves the person where they are in the onboarding.
    mutating func keepDraft(of earlier: AccountRecord) {
        switch earlier.phase {
        case .filling, .onboarding: break
        case .account where id == earlier.id: break
        case .account, .profile, .flag, .undoing, .deleting: return
        }
        step = max(step, earlier.step)
        if profile.isEmpty { profile = earlier.profile }
    }
}
