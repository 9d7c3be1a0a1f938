/// A launch, from nothing to live data, as decisions only: events in, effects out.
///
/// The screen needs only the device's data: only ``State/cold`` has nothing to show. Every state
/// that waits has a timer; when it fires, ``screen`` tells the user the problem and the possible
/// actions. The machine retries only on a user's request, so it cannot loop. Sign-in events during
/// the onboarding are kept, and applied in their order after it.
public struct LaunchMachine: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// The local data are being opened.
        case cold
        /// The first content is being drawn.
        case localReady
        /// The credential store is being read.
        case sessionUnknown
        /// The credential store cannot be read yet.
        case locked
        case signedOut(SignOutReason)
        /// A user is signed in, and the existence of a profile is unknown.
        case signedIn(UserID)
        /// A sign-up is running; nil while it has no account.
        case profilePending(UserID?)
        /// There is an account and no profile: the onboarding continues at this step.
        case profileMissing(UserID, step: Int)
        /// The user fills in the onboarding; nil while there is no account.
        case onboarding(UserID?, step: Int)
        /// A sign-up is being undone, or an account is being removed.
        case removing(UserID?)
        /// Feeds are being updated.
        case profileReady(UserID)
        case live(UserID)
    }

    /// The maximum duration of each stage before the user sees a message. Source: journeys 5.
    public struct Budgets: Hashable, Sendable {
        public var localData = Duration.seconds(10)
        /// The launch continues after this time even if the screen shows no content, because an app
        /// can be started in the background.
        public var firstContent = Duration.seconds(2)
        public var session = Duration.seconds(10)
        public var profile = Duration.seconds(10)
        public var feeds = Duration.seconds(10)

        public init() {}
    }

    /// The maximum number of sign-in events that are kept during the onboarding. Above it, the
    /// oldest is dropped: the last events decide.
    public static let defaultMaxHeld = 8

    public internal(set) var state = State.cold
    /// The problem that the user sees; nil if there is none.
    public internal(set) var problem: LaunchProblem?
    public internal(set) var facts = LocalFacts()
    /// The sign-in events that wait for the end of the onboarding.
    public internal(set) var held: [SessionChange] = []
    public internal(set) var isTimerRunning = false
    public internal(set) var hasStarted = false
    /// True unless the system has reported that there is no network.
    public internal(set) var isNetworkAvailable = true
    /// True after the machine has requested ``LaunchEffect/startBackground``.
    public internal(set) var hasBackground = false
    let budgets: Budgets
    let maxHeld: Int

    #if TIDEMARK_DEFECTS
        package var defects: LaunchDefects = []
    #endif

    public init(budgets: Budgets = Budgets(), maxHeld: Int = Self.defaultMaxHeld) {
        precondition(maxHeld > 0)
        self.budgets = budgets
        self.maxHeld = maxHeld
    }

    /// - Returns: The effects, in their order. The function is total: every state handles every
    ///   event.
    public mutating func step(_ event: LaunchEvent) -> [LaunchEffect] {
        learn(event)
        let effects: [LaunchEffect] =
            switch state {
            case .cold: cold(event)
            case .localReady: localReady(event)
            case .sessionUnknown: sessionUnknown(event)
            case .locked: locked(event)
            case .signedOut: signedOut(event)
            case .signedIn(let user): signedIn(event, user)
            case .profilePending(let user): profilePending(event, user)
            case .profileMissing(let user, let step): onboarding(event, user: user, step: step)
            case .onboarding(let user, let step): onboarding(event, user: user, step: step)
            case .removing: removing(event)
            case .profileReady(let user): profileReady(event, user)
            case .live(let user): live(event, user)
            }
        return effects + applyHeld()
    }

    /// Corrects the reason for missing feeds by new evidence about the connection.
    private mutating func learn(_ event: LaunchEvent) {
        if case .network(let isAvailable) = event { isNetworkAvailable = isAvailable }
        switch (problem, event) {
        case (.noAnswer, .network(isAvailable: false)),
            (.unreachable, .network(isAvailable: false)):
            problem = .offline
        case (.offline, .network(isAvailable: true)): problem = .noAnswer
        case (.noAnswer, .diagnosis(let verdict)), (.offline, .diagnosis(let verdict)):
            problem = LaunchProblem(verdict) ?? problem
        default: break
        }
    }

    /// The signed-in user, if known.
    public var user: UserID? {
        switch state {
        case .cold, .localReady, .sessionUnknown, .locked, .signedOut: nil
        case .profilePending(let user), .onboarding(let user, _), .removing(let user): user
        case .signedIn(let user), .profileMissing(let user, _), .profileReady(let user),
            .live(let user):
            user
        }
    }

    /// True if the session must not change in this state: changes are kept until it may.
    var isHolding: Bool {
        switch state {
        case .cold, .localReady, .profilePending, .onboarding, .profileMissing, .removing: true
        case .sessionUnknown, .locked, .signedOut, .signedIn, .profileReady, .live: false
        }
    }

    // MARK: Steps that several states share

    /// Enters a state that waits for an answer.
    mutating func wait(_ next: State, budget: Duration, effects: LaunchEffect...)
        -> [LaunchEffect]
    {
        let cancel = settle(next)
        isTimerRunning = true
        return cancel + effects + [.startTimer(budget)]
    }

    /// Enters a state, or stays in a state, that waits for no answer.
    mutating func settle(_ next: State, _ problem: LaunchProblem? = nil) -> [LaunchEffect] {
        state = next
        self.problem = problem
        guard isTimerRunning else { return [] }
        isTimerRunning = false
        return [.cancelTimer]
    }

    /// Stays in the state, and reports a problem to the user.
    mutating func notify(_ problem: LaunchProblem) -> [LaunchEffect] { settle(state, problem) }

    /// Handles the end of the timer, which no longer runs.
    mutating func overdue(_ problem: LaunchProblem) -> [LaunchEffect] {
        // The timer was cancelled when it fired.
        guard isTimerRunning else { return [] }
        isTimerRunning = false
        self.problem = problem
        return []
    }

    mutating func hold(_ change: SessionChange) -> [LaunchEffect] {
        #if TIDEMARK_DEFECTS
            if defects.contains(.appliesSignInsDuringOnboarding) { return apply(change) }
        #endif
        if held.count == maxHeld { held.removeFirst() }
        held.append(change)
        return []
    }

    private mutating func applyHeld() -> [LaunchEffect] {
        var effects: [LaunchEffect] = []
        while !isHolding, !held.isEmpty { effects += apply(held.removeFirst()) }
        return effects
    }

    mutating func apply(_ change: SessionChange) -> [LaunchEffect] {
        switch change {
        case .signedIn(let next):
            if next == user { return [] }
            return close() + enter(next)
        case .signedOut(let reason):
            return close() + settle(.signedOut(reason), reason.isUnexpected ? .sessionEnded : nil)
        }
    }

    /// Closes the feeds that were opened for the user.
    func close() -> [LaunchEffect] {
        switch state {
        case .profileReady, .live: [.closeFeeds]
        case .cold, .localReady, .sessionUnknown, .locked, .signedOut, .signedIn, .profilePending,
            .profileMissing, .onboarding, .removing:
            []
        }
    }

    /// Enters the stage of a signed-in user.
    mutating func enter(_ user: UserID) -> [LaunchEffect] {
        // Only the user of the job resumes it: a removal concerns no other account.
        if let job = facts.unfinished, job.kind != .filling, job.user == user { return resume(job) }
        if facts.completeProfile == user {
            // An onboarding that waited for a profile is over, because the profile exists.
            return ready(user) + (facts.unfinished?.user == user ? [.setLocalFlag(user)] : [])
        }
        #if TIDEMARK_DEFECTS
            if defects.contains(.waitsForProfileForEver) {
                return settle(.signedIn(user)) + [.loadProfile(user)]
            }
        #endif
        return wait(.signedIn(user), budget: budgets.profile, effects: .loadProfile(user))
    }

    mutating func resume(_ job: UnfinishedJob) -> [LaunchEffect] {
        switch job.kind {
        case .filling:
            job.user == nil
                ? settle(.onboarding(nil, step: job.step)) : settle(.signedOut(.nobody))
        case .signUp: wait(.profilePending(job.user), budget: budgets.profile, effects: .resumeJob)
        case .removal: wait(.removing(job.user), budget: budgets.profile, effects: .resumeJob)
        }
    }

    /// Records news of a job in a state that does not wait for the job.
    mutating func note(_ news: JobNews) -> [LaunchEffect] {
        switch news {
        case .finished, .removed: facts.unfinished = nil
        case .needsPerson, .waiting, .signedIn: break
        }
        return []
    }

    mutating func ready(_ user: UserID) -> [LaunchEffect] {
        facts.lastUser = user
        return wait(.profileReady(user), budget: budgets.feeds, effects: .openFeeds(user))
    }

    /// Starts the last stage, once. The stage also undoes a sign-up that may have created an
    /// account, if the user has signed in to another account since.
    mutating func background() -> [LaunchEffect] {
        if hasBackground { return [] }
        hasBackground = true
        if let job = facts.unfinished, job.user == nil { return [.startBackground, .undoSignUp] }
        return [.startBackground]
    }
}
