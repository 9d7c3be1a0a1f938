/// What this device knows of its user before anybody is asked.
public struct LocalFacts: Hashable, Sendable {
    /// Whose content the device holds; nil when nobody has signed in here.
    public var lastUser: UserID?
    /// The user whose profile is known to have been made: the local flag.
    public var completeProfile: UserID?
    /// A sign-up or a removal that was begun and is not over.
    public var unfinished: UnfinishedJob?

    public init(
        lastUser: UserID? = nil, completeProfile: UserID? = nil, unfinished: UnfinishedJob? = nil
    ) {
        self.lastUser = lastUser
        self.completeProfile = completeProfile
        self.unfinished = unfinished
    }
}

/// A job that the journal names, as far as a launch has to know it.
public struct UnfinishedJob: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The person had begun to fill in the onboarding, and nothing was asked of a server.
        case filling
        case signUp, removal
    }

    public var kind: Kind
    /// Nil while it is not known that there is an account.
    public var user: UserID?
    /// The step of the onboarding that the person had come to, from 0.
    public var step: Int

    public init(_ kind: Kind, user: UserID?, step: Int) {
        precondition(step >= 0)
        self.kind = kind
        self.user = user
        self.step = step
    }
}

/// What the credential store says when it is asked.
public enum SessionReading: Hashable, Sendable {
    case signedIn(UserID)
    /// The store could be read, and nobody is in it.
    case signedOut
    /// It cannot be read before the device has been unlocked. Says nothing about who is signed in.
    case locked
    /// It cannot be read, and why is not known.
    case failed
}

/// What happens to the session without anybody having asked.
public enum SessionChange: Hashable, Sendable {
    case signedIn(UserID)
    case signedOut(SignOutReason)
}

public enum SignOutReason: Hashable, Sendable {
    /// Nobody has signed in on this device, or the app was installed anew.
    case nobody
    /// The person asked for it.
    case asked
    /// The server does not take the credentials any more.
    case expired
    /// The person has taken back what they had allowed the app at Apple.
    case revoked
    /// A sign-up was given up, or the account removed.
    case removed

    /// Whether the person did not do it here, and is told.
    var isUnexpected: Bool { self == .expired || self == .revoked }
}

/// Whether the server, or the device when it is known to be complete, holds the user's profile.
public enum ProfileReading: Hashable, Sendable {
    case found
    /// The server says that there is none.
    case missing
    /// Nobody who could know has answered.
    case unavailable
}

/// What becomes of a sign-up or a removal.
public enum JobNews: Hashable, Sendable {
    case finished(UserID)
    /// The account is there, and the onboarding comes now: whether it has a profile is not known.
    case signedIn(UserID)
    /// It cannot go on without the person, who has to correct this step of the onboarding, or to sign
    /// in again for a removal.
    case needsPerson(step: Int)
    /// It goes on when there is a network.
    case waiting
    /// Account and profile are gone, or never were.
    case removed
}

/// What the person can do.
public enum LaunchAction: Hashable, Sendable {
    case tryAgain
    case signInAgain
    /// Goes on with an onboarding that was interrupted; while the person is in it, it changes nothing.
    case resumeOnboarding(step: Int)
    case beginSignUp
    /// Goes to this step of the onboarding.
    case goTo(step: Int)
    /// The onboarding is filled in.
    case submit
    /// Ends the sign-up and undoes what it has made.
    case giveUp
}

public enum LaunchEvent: Hashable, Sendable {
    case start
    case localReady(LocalFacts)
    case localFailed
    /// The first content is on the screen.
    case contentShown
    /// The answer to ``LaunchEffect/readSession``.
    case session(SessionReading)
    case changed(SessionChange)
    /// The device has been unlocked: the credential store may be readable now.
    case unlocked
    case profile(ProfileReading, of: UserID)
    case job(JobNews)
    case feedsLive
    case feedsLost
    /// The time of ``LaunchEffect/startTimer(_:)`` is over.
    case timerFired
    case person(LaunchAction)
}

public enum LaunchEffect: Hashable, Sendable {
    case openLocalData
    /// Shows what the device holds of this user; nil for what everybody may see.
    case showContent(UserID?)
    case readSession
    /// Asks the server, when the local flag is not there, whether there is a profile.
    case loadProfile(UserID)
    /// The profile is there and the local flag was not.
    case setLocalFlag(UserID)
    /// Makes the account and the profile.
    case beginSignUp(UserID?, step: Int)
    /// Goes on with the job of the journal.
    case resumeJob
    /// Undoes what the sign-up has made.
    case undoSignUp
    /// Keeps the step of the onboarding in the journal.
    case keepStep(Int)
    case openFeeds(UserID)
    case closeFeeds
    /// Diagnostics, backfill and prefetch may begin.
    case startBackground
    /// Ends the session on this device. Nothing that the device holds is deleted.
    case endSession
    case startTimer(Duration)
    case cancelTimer
}
