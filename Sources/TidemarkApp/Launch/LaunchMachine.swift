/// One launch, from nothing to live data, as decisions alone: events in, effects out.
///
/// The screen needs only what the device holds: of all states only ``State/cold`` has nothing to show.
/// Every state in which something is awaited has a timer; when it fires, the person is told what is the
/// matter and what can be done (``screen``). Nothing is tried again without the person, so it never
/// goes round in a circle by itself. Sign-in events that come during onboarding are kept, and applied
/// in their order when it is over.
public struct LaunchMachine: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// Local data is being opened.
        case cold
        /// First content is on its way to the screen.
        case localReady
        /// The credential store is being asked.
        case sessionUnknown
        /// The credential store cannot be read yet.
        case locked
        case signedOut(SignOutReason)
        /// Somebody is signed in, and whether there is a profile is not known.
        case signedIn(UserID)
        /// A sign-up is at work; nil while it has no account.
        case profilePending(UserID?)
        /// There is an account and no profile: onboarding goes on at this step.
        case profileMissing(UserID, step: Int)
        /// The person fills in the onboarding; nil while there is no account.
        case onboarding(UserID?, step: Int)
        /// A sign-up is being undone, or an account removed.
        case removing(UserID?)
        /// Feeds are being brought up to date.
        case profileReady(UserID)
        case live(UserID)
    }

    /// How long each stage may take before the person is told. Source: journeys 5.
    public struct Budgets: Hashable, Sendable {
        public var localData = Duration.seconds(10)
        /// After it the launch goes on, though nobody has said that content is on the screen: an app
        /// may be started in the background.
        public var firstContent = Duration.seconds(2)
        public var session = Duration.seconds(10)
        public var profile = Duration.seconds(10)
        public var feeds = Duration.seconds(10)

        public init() {}
    }

    /// Sign-in events kept during onboarding. Beyond, the oldest goes: the last ones decide.
    public static let defaultMaxHeld = 8

    public internal(set) var state = State.cold
    /// What the person is told; nil while all is well.
    public internal(set) var problem: LaunchProblem?
    public internal(set) var facts = LocalFacts()
    /// Sign-in events that wait for the end of the onboarding.
    public internal(set) var held: [SessionChange] = []
    public internal(set) var isTimerRunning = false
    public internal(set) var hasStarted = false
    /// Whether ``LaunchEffect/startBackground`` has been asked for.
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

    /// - Returns: What is to be done, in this order. Total: every event has its answer in every state.
    public mutating func step(_ event: LaunchEvent) -> [LaunchEffect] {
        let effects: [LaunchEffect] =
            switch state {
            case .cold: cold(event)
            case .localReady: localReady(event)
            case .sessionUnknown: sessionUnknown(event)
            case .locked: locked(event)
            case .signedOut: signedOut(event)
            case .signedIn(let user): signedIn(event, user)
            case .profilePending(let user): profilePending(event, user)
            case .profileMissing(let user, let step): onboarding(event, user, step)
            case .onboarding(let user, let step): onboarding(event, user, step)
            case .removing: removing(event)
            case .profileReady(let user): profileReady(event, user)
            case .live(let user): live(event, user)
            }
        return effects + applyHeld()
    }

    /// Who is signed in, as far as it is known.
    public var user: UserID? {
        switch state {
        case .cold, .localReady, .sessionUnknown, .locked, .signedOut: nil
        case .profilePending(let user), .onboarding(let user, _), .removing(let user): user
        case .signedIn(let user), .profileMissing(let user, _), .profileReady(let user),
            .live(let user):
            user
        }
    }

    /// Whether the session may not change under the state: changes are kept until it may.
    var isHolding: Bool {
        switch state {
        case .cold, .localReady, .profilePending, .onboarding, .profileMissing, .removing: true
        case .sessionUnknown, .locked, .signedOut, .signedIn, .profileReady, .live: false
        }
    }

    // MARK: Steps that several states share

    /// Goes to a state in which something is awaited.
    mutating func wait(_ next: State, _ budget: Duration, _ effects: LaunchEffect...)
        -> [LaunchEffect]
    {
        let cancel = settle(next)
        isTimerRunning = true
        return cancel + effects + [.startTimer(budget)]
    }

    /// Goes to a state, or stays in one, with nothing awaited any more.
    mutating func settle(_ next: State, _ problem: LaunchProblem? = nil) -> [LaunchEffect] {
        state = next
        self.problem = problem
        guard isTimerRunning else { return [] }
        isTimerRunning = false
        return [.cancelTimer]
    }

    /// Stays, and tells the person.
    mutating func tell(_ problem: LaunchProblem) -> [LaunchEffect] { settle(state, problem) }

    /// The timer is over: it runs no more.
    mutating func overdue(_ problem: LaunchProblem) -> [LaunchEffect] {
        // One that was cancelled as it fired.
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

    /// Ends what was opened for the user so far.
    func close() -> [LaunchEffect] {
        switch state {
        case .profileReady, .live: [.closeFeeds]
        case .cold, .localReady, .sessionUnknown, .locked, .signedOut, .signedIn, .profilePending,
            .profileMissing, .onboarding, .removing:
            []
        }
    }

    /// Somebody is signed in.
    mutating func enter(_ user: UserID) -> [LaunchEffect] {
        // Only the one whose job it is: another's account is not what a removal is about.
        if let job = facts.unfinished, job.kind != .filling, job.user == user { return resume(job) }
        if facts.completeProfile == user {
            // An onboarding that waited for a profile, which was there: it is over.
            return ready(user) + (facts.unfinished?.user == user ? [.setLocalFlag(user)] : [])
        }
        #if TIDEMARK_DEFECTS
            if defects.contains(.waitsForProfileForEver) {
                return settle(.signedIn(user)) + [.loadProfile(user)]
            }
        #endif
        return wait(.signedIn(user), budgets.profile, .loadProfile(user))
    }

    mutating func resume(_ job: UnfinishedJob) -> [LaunchEffect] {
        switch job.kind {
        case .filling:
            job.user == nil
                ? settle(.onboarding(nil, step: job.step)) : settle(.signedOut(.nobody))
        case .signUp: wait(.profilePending(job.user), budgets.profile, .resumeJob)
        case .removal: wait(.removing(job.user), budgets.profile, .resumeJob)
        }
    }

    /// What a job says that nobody waits for any more.
    mutating func note(_ news: JobNews) -> [LaunchEffect] {
        switch news {
        case .finished, .removed: facts.unfinished = nil
        case .needsPerson, .waiting, .signedIn: break
        }
        return []
    }

    mutating func ready(_ user: UserID) -> [LaunchEffect] {
        facts.lastUser = user
        return wait(.profileReady(user), budgets.feeds, .openFeeds(user))
    }

    /// The last stage, once. A sign-up that may have made an account, for somebody who has signed in to
    /// another since, is undone in it.
    mutating func background() -> [LaunchEffect] {
        if hasBackground { return [] }
        hasBackground = true
        if let job = facts.unfinished, job.user == nil { return [.startBackground, .undoSignUp] }
        return [.startBackground]
    }
}
