// The reaction of each state to each event, in the order of the stages. Events without an effect in
// a state are listed: they arrive late, or from a caller who acted before the last step was known.

extension LaunchMachine {
    mutating func cold(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        case .start:
            if hasStarted { return [] }
            hasStarted = true
            #if TIDEMARK_DEFECTS
                if defects.contains(.diagnosesBeforeContent) {
                    return background()
                        + wait(.cold, budget: budgets.localData, effects: .openLocalData)
                }
            #endif
            return wait(.cold, budget: budgets.localData, effects: .openLocalData)
        case .changed(let change): return hold(change)
        // The launch has not started yet.
        case .localReady where !hasStarted, .localFailed where !hasStarted,
            .timerFired where !hasStarted:
            return []
        case .localReady(let facts):
            self.facts = facts
            return wait(
                .localReady, budget: budgets.firstContent, effects: .showContent(facts.lastUser))
        case .localFailed: return notify(.localDataFailed)
        case .timerFired: return overdue(.localDataSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(.cold, budget: budgets.localData, effects: .openLocalData)
        case .person(.signInAgain), .person(.resumeOnboarding), .person(.beginSignUp),
            .person(.goTo), .person(.submit), .person(.giveUp):
            // Without local data there is no place to keep the result of these actions.
            return []
        case .contentShown, .session, .unlocked, .profile, .job, .feedsLive, .feedsLost,
            .network, .diagnosis:
            return []
        }
    }

    mutating func localReady(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        // The launch also continues without a screen.
        case .contentShown, .timerFired:
            return wait(.sessionUnknown, budget: budgets.session, effects: .readSession)
        case .changed(let change): return hold(change)
        case .session, .unlocked, .profile, .job, .feedsLive, .feedsLost, .network, .diagnosis:
            return []
        case .start, .localReady, .localFailed: return []
        case .person: return []
        }
    }

    mutating func sessionUnknown(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        case .session(.signedIn(let user)): return enter(user)
        case .session(.signedOut):
            if let job = facts.unfinished { return resume(job) }
            return settle(.signedOut(.nobody))
        case .session(.locked):
            #if TIDEMARK_DEFECTS
                if defects.contains(.takesLockedForSignedOut) {
                    return settle(.signedOut(.nobody)) + [.endSession]
                }
            #endif
            return wait(.locked, budget: budgets.session)
        case .session(.failed): return notify(.sessionUnreadable)
        case .timerFired: return overdue(.sessionSlow)
        // The change is more precise than the awaited reading.
        case .changed(let change): return apply(change)
        case .unlocked, .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(.sessionUnknown, budget: budgets.session, effects: .readSession)
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            return settle(.signedOut(.asked))
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .start, .localReady, .localFailed, .contentShown: return []
        case .profile, .job, .feedsLive, .feedsLost, .network, .diagnosis: return []
        }
    }

    mutating func locked(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        case .unlocked, .person(.tryAgain):
            return wait(.sessionUnknown, budget: budgets.session, effects: .readSession)
        case .timerFired: return overdue(.locked)
        case .changed(let change): return apply(change)
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            return settle(.signedOut(.asked))
        case .session(.signedIn(let user)): return enter(user)
        // The store was already reported as locked; other results while it is locked have no
        // meaning.
        case .session(.signedOut), .session(.locked), .session(.failed): return []
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .start, .localReady, .localFailed, .contentShown: return []
        case .profile, .job, .feedsLive, .feedsLost, .network, .diagnosis: return []
        }
    }

    mutating func signedOut(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        case .changed(.signedIn(let user)): return enter(user)
        case .changed(.signedOut(let reason)):
            return settle(.signedOut(reason), reason.isUnexpected ? .sessionEnded : nil)
        case .person(.beginSignUp):
            return settle(.onboarding(nil, step: 0)) + [.keepStep(0)]
        case .person(.resumeOnboarding):
            guard let job = facts.unfinished else { return [] }
            return resume(job)
        case .person(.signInAgain), .person(.tryAgain):
            // The sign-in screen is already shown.
            return settle(state)
        case .person(.goTo), .person(.submit), .person(.giveUp): return []
        case .job(let news): return note(news)
        // The reading is older than the user's decision to sign in again.
        case .session: return []
        case .timerFired, .unlocked, .profile, .feedsLive, .feedsLost, .network, .diagnosis:
            return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    mutating func profileReady(_ event: LaunchEvent, _ user: UserID) -> [LaunchEffect] {
        switch event {
        case .feedsLive: return settle(.live(user)) + background()
        // The content is on the screen; the feeds report missing data themselves.
        case .timerFired:
            let isFirst = isTimerRunning
            return overdue(isNetworkAvailable ? .noAnswer : .offline)
                + (isFirst && isNetworkAvailable ? [.diagnose] : []) + background()
        case .feedsLost: return []
        // Handled before the state.
        case .network, .diagnosis: return []
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budget: budgets.feeds, effects: .closeFeeds, .openFeeds(user))
        case .profile(.missing, of: user): return lost(user)
        case .profile: return []
        case .changed(let change): return apply(change)
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            return apply(.signedOut(.asked)) + [.endSession]
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .job(let news): return note(news)
        case .session, .unlocked: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    mutating func live(_ event: LaunchEvent, _ user: UserID) -> [LaunchEffect] {
        switch event {
        case .changed(let change): return apply(change)
        case .profile(.missing, of: user): return lost(user)
        case .profile: return []
        // Feeds become live and offline with the network, and report that themselves.
        case .feedsLive, .feedsLost, .network, .diagnosis: return []
        case .person: return []
        case .job(let news): return note(news)
        case .timerFired, .session, .unlocked: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    /// Handles the server's report that an existing profile is now missing.
    private mutating func lost(_ user: UserID) -> [LaunchEffect] {
        facts.completeProfile = nil
        return close() + settle(.profileMissing(user, step: 0), .profileMissing(step: 0))
    }
}
