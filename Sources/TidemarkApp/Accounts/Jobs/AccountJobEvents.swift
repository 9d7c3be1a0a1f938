/// What an ``AccountJob`` wants done. One at a time; each has its answer in ``AccountJobEvent``.
public enum AccountAct: Hashable, Sendable {
    /// Makes the account, or finds the one that the same request has made before, and keeps its
    /// credentials.
    case makeAccount
    /// Creates the profile, on the condition that there is none.
    case createProfile(UserID)
    case readProfile(UserID)
    /// Keeps on this device that the profile is there.
    case setFlag(UserID)
    /// Whether the sign-up has made an account: signs in with its secret, and makes none.
    case findAccount
    /// Whether the account could be deleted now: before anything of it is.
    case checkLogin(UserID)
    /// - Parameter onlyOwn: Only a profile that has this job's id.
    case removeProfile(UserID, onlyOwn: Bool)
    case removeAccount(UserID)
    /// Credentials, secrets and the flag of this device; nil where nobody was signed in.
    case eraseLocal(UserID?)
}

public enum AccountAnswer: Hashable, Sendable {
    /// It was made now.
    case made(UserID)
    /// The same identity had one.
    case existed(UserID)
    /// The address is somebody's who has another password.
    case taken
    /// The server will never make it so: a weak password, a bad address.
    case refused
    /// Nobody knows whether it was made.
    case unreachable
    /// The secret is not on this device any more, or has run out.
    case secretGone
}

public enum ProfileAnswer: Hashable, Sendable {
    case created
    /// There is one.
    case exists
    case refused
    /// Nobody knows whether it was made.
    case unreachable
}

public enum ProfileComparison: Hashable, Sendable {
    case same, different, absent, unreachable
}

public enum RemovalAnswer: Hashable, Sendable {
    /// Removed, or not there.
    case gone
    /// There is one, and it is not what this job wrote.
    case notOwn
    case unreachable
    /// The server wants the person to sign in once more.
    case needsLogin
}

public enum AccountJobEvent: Hashable, Sendable {
    /// The onboarding is filled in. With the id of the record in the journal, it is the same sign-up
    /// again, with the same address and secret; with another one that is undone first.
    case begin(AccountRecord)
    /// What the journal holds, for an event that comes next.
    case recall(AccountRecord?)
    /// A launch: what the journal holds.
    case resume(AccountRecord?)
    /// The person wants the account of this user deleted.
    case delete(AccountRecord)
    case journalled(Bool)
    case account(AccountAnswer)
    case profile(ProfileAnswer)
    case compared(ProfileComparison)
    case flagSet(Bool)
    /// Nil: there is none.
    case found(UserID?)
    case couldNotLook(secretGone: Bool)
    case login(RemovalAnswer)
    case profileRemoved(RemovalAnswer)
    case accountRemoved(RemovalAnswer)
    case erased
    /// The pause of ``AccountJobEffect/pause(_:)`` is over.
    case pauseOver
    /// The person, or a network that has come back.
    case tryAgain
    /// A network has come back, or the device can be read again: what waits for these goes on.
    case networkIsBack
    /// The server says that the user has a profile already: somebody who has signed up before.
    case profileFound(UserID)
    case giveUp
}

public enum AccountJobEffect: Hashable, Sendable {
    /// Writes the record, and syncs it to disk, before anything else; nil clears the journal.
    case journal(AccountRecord?)
    case perform(AccountAct)
    case pause(Duration)
    case tell(JobNews)
}
