/// The journal's record of a sign-up or a removal: everything that the next launch needs to
/// continue. Contains no secret.
public struct AccountRecord: Hashable, Sendable, Codable {
    /// The way in which the account is created. Every way can be repeated without a second account.
    public enum Method: Hashable, Sendable, Codable {
        /// The server refuses an existing address. A sign-in then shows if the first request
        /// created the account.
        case password(email: String)
        /// The provider's subject is the account's identity: the same subject signs in again.
        case provider(String)
        /// The token names the user.
        case customToken
        /// An account for a user who gives no address. This installation invents the address, and a
        /// password that only its credential store knows. The server's own anonymous accounts
        /// cannot be found again if the answer is lost.
        case installation(address: String)
    }

    /// The origin of the account.
    public enum Provenance: Hashable, Sendable, Codable {
        /// The server reported that it created the account for this request.
        case made
        /// The account existed at a repeated request, after a lost answer.
        case maybeMade
        /// The account existed at the first request.
        case found
    }

    public enum Phase: Hashable, Sendable, Codable {
        /// The user fills in the onboarding. Nothing has been sent to the server. There may be an
        /// earlier account without a profile.
        case filling(UserID?)
        /// The account may exist.
        case account
        /// The account exists, and the user fills in the onboarding: the profile is created last.
        case onboarding(UserID, Provenance)
        /// The account exists, and the profile may exist.
        case profile(UserID, Provenance)
        /// The profile was read back: the flag on this device is still missing.
        case flag(UserID)
        /// The creations of the sign-up are being undone. The user is nil while the existence of an
        /// account is unknown.
        case undoing(UserID?, Provenance)
        /// The user's account is being deleted, regardless of its origin.
        case deleting(UserID)
    }

    /// A random id, which is also written into the profile: it identifies the profile of this
    /// sign-up.
    public var id: String
    public var method: Method
    /// The fields of the profile, encoded.
    public var profile: [UInt8]
    /// The step of the onboarding, from 0.
    public var step: Int
    public var phase: Phase
    /// True if the account is created before the onboarding; nil and false if it is created after.
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

    /// The user of the account, if known.
    public var user: UserID? {
        switch phase {
        case .filling(let user), .undoing(let user, _): user
        case .account: nil
        case .onboarding(let user, _), .profile(let user, _), .flag(let user), .deleting(let user):
            user
        }
    }

    /// Keeps the step and the draft of an earlier record. A sign-in without a profile leaves the
    /// user at the same place in the onboarding.
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
