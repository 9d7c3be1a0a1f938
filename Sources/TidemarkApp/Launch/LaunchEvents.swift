/// The device's knowledge of its user before any server is asked.
public struct LocalFacts: Hashable, Sendable {
    /// The user whose content is on the device; nil if no user has signed in here.
    public var lastUser: UserID?
    /// The user whose profile is known to exist: the local flag.
    public var completeProfile: UserID?
    /// A sign-up or a removal that began and has not ended.
    public var unfinished: UnfinishedJob?

    public init(
        lastUser: UserID? = nil, completeProfile: UserID? = nil, unfinished: UnfinishedJob? = nil
    ) {
        self.lastUser = lastUser
        self.completeProfile = completeProfile
        self.unfinished = unfinished
    }
}

/// A job in the journal, with the facts that a launch needs.
public struct UnfinishedJob: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// The user had begun to fill in the onboarding, and no server was asked.
        case filling
        case signUp, removal
    }

    public var kind: Kind
    /// The account of the job; nil while the existence of an account is unknown.
    public var user: UserID?
    /// The step of the onboarding that the user had reached, from 0.
    public var step: Int

    public init(_ kind: Kind, user: UserID?, step: Int) {
        precondition(step >= 0)
        self.kind = kind
        self.user = user
        self.step = step
    }
}

/// The result of reading the credential store.
public enum SessionReading: Hashable, Sendable {
    case signedIn(UserID)
    /// The store could be read, and contains no session.
    case signedOut
    /// The store cannot be read before the device is unlocked. The signed-in user is unknown.
    case locked
    /// The store cannot be read, for an unknown reason.
    case failed
}

/// A change of the session outside the launch's own requests.
public enum SessionChange: Hashable, Sendable {
    case signedIn(UserID)
    case signedOut(SignOutReason)
}

public enum SignOutReason: Hashable, Sendable {
    /// No user has signed in on this device, or the app was installed again.
    case nobody
    /// The user requested it.
    case asked
    /// The server no longer accepts the credentials.
    case expired
    /// The user has withdrawn the app's permission at Apple.
    case revoked
    /// A sign-up was given up, or the account was removed.
    case removed

    /// True if the user did not sign out here, and must see a message.
    var isUnexpected: Bool { self == .expired || self == .revoked }
}

/// The existence of the user's profile, according to the server or to a complete cache on the
/// device.
public enum ProfileReading: Hashable, Sendable {
    case found
    /// The server reports that there is no profile.
    case missing
    /// Neither the server nor the device could answer.
    case unavailable
}

/// The news of a sign-up or a removal.
public enum JobNews: Hashable, Sendable {
    case finished(UserID)
    /// The account exists, and the onboarding follows. The existence of a profile is unknown.
    case signedIn(UserID)
    /// The job needs the user, who has to correct this step of the onboarding, or to sign in again
    /// for a removal.
    case needsPerson(step: Int)
    /// The job continues when there is a network.
    case waiting
    /// Account and profile were removed, or never existed.
    case removed
}

/// An action of the user.
public enum LaunchAction: Hashable, Sendable {
    case tryAgain
    case signInAgain
    /// Continues an interrupted onboarding; has no effect while the user is in the onboarding.
    case resumeOnboarding(step: Int)
    case beginSignUp
    /// Shows this step of the onboarding.
    case goTo(step: Int)
    /// Submits the completed onboarding.
    case submit
    /// Ends the sign-up and undoes its creations.
    case giveUp
}

public enum LaunchEvent: Hashable, Sendable {
    case start
    case localReady(LocalFacts)
    case localFailed
    /// The screen shows the first content.
    case contentShown
    /// The answer to ``LaunchEffect/readSession``.
    case session(SessionReading)
    case changed(SessionChange)
    /// The device was unlocked: the credential store may be readable now.
    case unlocked
    case profile(ProfileReading, of: UserID)
    case job(JobNews)
    case feedsLive
    case feedsLost
    /// The system reports that a network is available, or that none is.
    case network(isAvailable: Bool)
    /// The answer to ``LaunchEffect/diagnose``.
    case diagnosis(Verdict)
    /// The time of ``LaunchEffect/startTimer(_:)`` has passed.
    case timerFired
    case person(LaunchAction)
}

public enum LaunchEffect: Hashable, Sendable {
    case openLocalData
    /// Shows the device's data of this user; nil for public content.
    case showContent(UserID?)
    case readSession
    /// Asks the server if the user has a profile, because the local flag is missing.
    case loadProfile(UserID)
    /// Sets the missing local flag, because the profile exists.
    case setLocalFlag(UserID)
    /// Creates the account and the profile.
    case beginSignUp(UserID?, step: Int)
    /// Continues the job in the journal.
    case resumeJob
    /// Undoes the creations of the sign-up.
    case undoSignUp
    /// Keeps the step of the onboarding in the journal.
    case keepStep(Int)
    case openFeeds(UserID)
    case closeFeeds
    /// Finds the reason why the feeds do not become live.
    case diagnose
    /// Allows diagnostics, backfill and prefetch to begin.
    case startBackground
    /// Ends the session on this device. The device's data are not deleted.
    case endSession
    case startTimer(Duration)
    case cancelTimer
}
