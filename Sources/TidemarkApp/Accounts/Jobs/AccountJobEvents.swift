/// An action that an ``AccountJob`` requests. One action runs at a time; each has its answer in
/// ``AccountJobEvent``.
public enum AccountAction: Hashable, Sendable {
    /// Creates the account, or finds the account that the same request has created before, and
    /// keeps its credentials.
    case makeAccount
    /// Creates the profile, if there is none.
    case createProfile(UserID)
    case readProfile(UserID)
    /// Records on this device that the profile exists.
    case setFlag(UserID)
    /// Finds out if the sign-up created an account: signs in with its secret, and creates none.
    case findAccount
    /// Checks that the account could be deleted now, before any part of it is deleted.
    case checkLogin(UserID)
    /// - Parameter onlyOwn: True to remove only a profile with this job's id.
    case removeProfile(UserID, onlyOwn: Bool)
    case removeAccount(UserID)
    /// Removes credentials, secrets and the flag of this device. The user is nil if no user was
    /// signed in.
    case eraseLocal(UserID?)
}

public enum AccountAnswer: Hashable, Sendable {
    /// The account was created now.
    case made(UserID)
    /// The same identity already had an account.
    case existed(UserID)
    /// The address belongs to an account with another password.
    case taken
    /// The server refuses the request permanently: a weak password, an invalid address.
    case refused
    /// No answer arrived. The account may exist.
    case unreachable
    /// The secret is no longer on this device, or has expired.
    case secretGone
}

public enum ProfileAnswer: Hashable, Sendable {
    case created
    /// A profile exists already.
    case exists
    case refused
    /// No answer arrived. The profile may exist.
    case unreachable
}

public enum ProfileComparison: Hashable, Sendable {
    case same, different, absent, unreachable
}

public enum RemovalAnswer: Hashable, Sendable {
    /// The object was removed, or did not exist.
    case gone
    /// The profile exists, and this job did not write it.
    case notOwn
    case unreachable
    /// The server requires that the user signs in again.
    case needsLogin
}

public enum AccountJobEvent: Hashable, Sendable {
    /// The onboarding is complete. With the id of the record in the journal, the event continues
    /// the same sign-up, with the same address and secret; with another id, the earlier sign-up is
    /// undone first.
    case begin(AccountRecord)
    /// Loads the record of the journal for the next event.
    case recall(AccountRecord?)
    /// Continues the record of the journal at a launch.
    case resume(AccountRecord?)
    /// The user requests the deletion of the account.
    case delete(AccountRecord)
    case journalled(Bool)
    case account(AccountAnswer)
    case profile(ProfileAnswer)
    case compared(ProfileComparison)
    case flagSet(Bool)
    /// The account that was found; nil if there is none.
    case found(UserID?)
    case couldNotLook(secretGone: Bool)
    case login(RemovalAnswer)
    case profileRemoved(RemovalAnswer)
    case accountRemoved(RemovalAnswer)
    case erased
    /// The pause of ``AccountJobEffect/pause(_:)`` is over.
    case pauseOver
    /// The user retries.
    case tryAgain
    /// A network is available again, or the device can be read again: waiting jobs continue.
    case networkIsBack
    /// The server reports that the user already has a profile from an earlier sign-up.
    case profileFound(UserID)
    case giveUp
}

public enum AccountJobEffect: Hashable, Sendable {
    /// Writes the record, and syncs it to disk, before anything else; nil clears the journal.
    case journal(AccountRecord?)
    case perform(AccountAction)
    case pause(Duration)
    case notify(JobNews)
}
