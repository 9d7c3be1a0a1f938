public import TidemarkWords

/// A message for the user when a launch cannot continue without help.
public enum LaunchProblem: Hashable, Sendable {
    case localDataSlow, localDataFailed
    case sessionSlow, sessionUnreadable, locked, sessionEnded
    case profileSlow, profileUnavailable
    case profileMissing(step: Int)
    case signUpSlow, signUpWaiting
    case signUpNeedsPerson(step: Int)
    case removalSlow, removalWaiting, removalNeedsSignIn
    /// The device has no network.
    case offline
    /// The server does not answer, and the reason is unknown.
    case noAnswer
    /// A diagnosis has found the reason, such as a portal that asks for a login.
    case unreachable(Verdict)

    /// Creates the problem of a failed connection; nil if the diagnosis explains no failure.
    init?(_ verdict: Verdict) {
        switch verdict {
        case .healthy, .slow, .unknown: return nil
        case .noNetwork: self = .offline
        case .namesFail, .nameUnknown, .noRoute, .silence, .captivePortal, .proxy, .clockWrong,
            .certificateExpired, .certificateUntrusted, .backendDown, .backendFailing,
            .backendSlow, .wrongService, .quota, .credentials, .forbidden:
            self = .unreachable(verdict)
        }
    }

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person using the app. Names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .localDataSlow:
            Sentence("launch.localDataSlow", "Opening your data is taking longer than usual.")
        case .localDataFailed:
            Sentence("launch.localDataFailed", "This device can't open its data right now.")
        case .sessionSlow:
            Sentence("launch.sessionSlow", "We're still checking whether you're signed in.")
        case .sessionUnreadable:
            Sentence("launch.sessionUnreadable", "This device can't read your sign-in right now.")
        case .locked: Sentence("launch.locked", "Unlock your device to continue.")
        case .sessionEnded:
            Sentence("launch.sessionEnded", "You've been signed out. Please sign in again.")
        case .profileSlow:
            Sentence("launch.profileSlow", "Loading your account is taking longer than usual.")
        case .profileUnavailable:
            Sentence(
                "launch.profileUnavailable",
                "Your account can't be reached. You see what is on this device.")
        case .profileMissing:
            Sentence("launch.profileMissing", "Your account isn't set up yet. Let's finish it.")
        case .signUpSlow:
            Sentence("launch.signUpSlow", "Setting up your account is taking longer than usual.")
        case .signUpWaiting:
            Sentence(
                "launch.signUpWaiting",
                "Setting up your account continues when the server can be reached.")
        case .signUpNeedsPerson:
            Sentence(
                "launch.signUpNeedsPerson",
                "Something needs your attention before your account is ready.")
        case .removalSlow:
            Sentence("launch.removalSlow", "Removing your account is taking longer than usual.")
        case .removalWaiting:
            Sentence(
                "launch.removalWaiting",
                "Removing your account continues when the server can be reached.")
        case .removalNeedsSignIn:
            Sentence(
                "launch.removalNeedsSignIn",
                "Please sign in again to remove your account.")
        case .offline: Sentence("launch.offline", "You're offline. You see what is on this device.")
        case .noAnswer:
            Sentence(
                "launch.noAnswer", "The server isn't answering. You see what is on this device.")
        case .unreachable(let verdict): verdict.sentence
        }
    }
}

/// The contents of the screen.
public struct LaunchScreen: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        /// Nothing is known yet. Occurs only before the local data are open.
        case nothing
        /// The device's data of this user; nil for public content.
        case local(UserID?)
        case signIn
        case onboarding(step: Int)
    }

    public let content: Content
    /// True if the screen may still change without the user: for an unobtrusive sign of activity.
    public let isBusy: Bool
    /// The sentence above the content; nil if there is no problem.
    public let sentence: Sentence?
    /// The actions that the user can choose.
    public let actions: [LaunchAction]

    /// The sentence in the language of the app.
    public var message: String? { sentence?.localized() }

    /// True if the user can act here: read, sign in, fill in, or choose an action.
    public var isUsable: Bool {
        if content == .nothing { return sentence != nil && !actions.isEmpty }
        return sentence == nil || !actions.isEmpty
    }
}

extension LaunchMachine {
    public var screen: LaunchScreen {
        LaunchScreen(
            content: content, isBusy: isTimerRunning, sentence: problem?.sentence, actions: actions)
    }

    private var content: LaunchScreen.Content {
        switch state {
        case .cold: .nothing
        case .localReady, .sessionUnknown, .locked: .local(facts.lastUser)
        case .signedOut: .signIn
        case .signedIn(let user), .profileReady(let user), .live(let user): .local(user)
        case .profilePending: .onboarding(step: facts.unfinished?.step ?? 0)
        case .profileMissing(_, let step), .onboarding(_, let step): .onboarding(step: step)
        case .removing: .local(nil)
        }
    }

    private var actions: [LaunchAction] {
        switch state {
        case .cold: problem == nil ? [] : [.tryAgain]
        case .localReady, .live: []
        case .sessionUnknown, .locked, .signedIn, .profileReady:
            problem == nil ? [] : [.tryAgain, .signInAgain]
        case .signedOut:
            [.signInAgain, .beginSignUp]
                + (facts.unfinished.map { [.resumeOnboarding(step: $0.step)] } ?? [])
        case .profilePending: problem == nil ? [] : [.tryAgain, .giveUp]
        case .profileMissing(_, let step):
            [.resumeOnboarding(step: step), .submit, .signInAgain, .giveUp]
        case .onboarding(_, let step): [.goTo(step: step + 1), .submit, .signInAgain, .giveUp]
        case .removing: problem == nil ? [] : [.tryAgain, .signInAgain]
        }
    }
}
