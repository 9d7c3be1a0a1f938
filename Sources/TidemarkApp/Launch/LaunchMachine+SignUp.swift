// The states between an account and its profile.

extension LaunchMachine {
    mutating func signedIn(_ event: LaunchEvent, _ user: UserID) -> [LaunchEffect] {
        switch event {
        case .profile(.found, of: user):
            // The flag was lost, or never set. The launch repairs it without a message.
            facts.completeProfile = user
            return ready(user) + [.setLocalFlag(user)]
        case .profile(.missing, of: user):
            #if TIDEMARK_DEFECTS
                if defects.contains(.waitsForProfileForEver) { return [] }
            #endif
            let step = facts.unfinished?.step ?? 0
            return settle(.profileMissing(user, step: step), .profileMissing(step: step))
        case .profile(.unavailable, of: user):
            #if TIDEMARK_DEFECTS
                if defects.contains(.asksAgainByItself) {
                    return wait(state, budget: budgets.profile, effects: .loadProfile(user))
                }
            #endif
            return notify(.profileUnavailable)
        // The answer is for an earlier user.
        case .profile: return []
        case .timerFired: return overdue(.profileSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budget: budgets.profile, effects: .loadProfile(user))
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            return settle(.signedOut(.asked)) + [.endSession]
        case .changed(let change): return apply(change)
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .session, .unlocked, .job, .feedsLive, .feedsLost, .network, .diagnosis: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    /// Also serves a missing profile: the user continues with the step at which the onboarding
    /// stopped.
    mutating func onboarding(
        _ event: LaunchEvent, user: UserID?, step: Int
    ) -> [LaunchEffect] {
        switch event {
        case .person(.resumeOnboarding(let next)):
            // The user has already continued: the action would take back the user's step.
            if case .onboarding = state { return [] }
            return settle(.onboarding(user, step: next)) + [.keepStep(next)]
        case .person(.goTo(let next)):
            return settle(.onboarding(user, step: next)) + [.keepStep(next)]
        case .person(.submit):
            facts.unfinished = UnfinishedJob(.signUp, user: user, step: step)
            return wait(
                .profilePending(user), budget: budgets.profile,
                effects: .beginSignUp(user, step: step))
        case .person(.giveUp):
            // An onboarding without an account has created nothing, unless the journal has an
            // unfinished job.
            guard user != nil || facts.unfinished != nil else { return settle(.signedOut(.asked)) }
            facts.unfinished = UnfinishedJob(.removal, user: user, step: step)
            return wait(.removing(user), budget: budgets.profile, effects: .undoSignUp)
        case .person(.signInAgain):
            if user != nil { return settle(.signedOut(.asked)) + [.endSession] }
            // The possible creations of the sign-up must not remain beside another account.
            return onboarding(.person(.giveUp), user: nil, step: step)
        case .changed(let change):
            #if TIDEMARK_DEFECTS
                if defects.contains(.signedInWithoutUser), user == nil {
                    return settle(.profilePending(nil))
                }
            #endif
            return hold(change)
        // The answer may be about a profile that another device has created since: the job finds
        // that profile, and keeps it.
        case .profile: return []
        case .person(.tryAgain), .person(.beginSignUp): return []
        case .timerFired, .session, .unlocked, .job, .feedsLive, .feedsLost, .network,
            .diagnosis:
            return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    mutating func profilePending(_ event: LaunchEvent, _ user: UserID?) -> [LaunchEffect] {
        switch event {
        case .job(.finished(let owner)):
            facts.unfinished = nil
            facts.completeProfile = owner
            return ready(owner)
        case .job(.signedIn(let owner)):
            // A user who has signed up before has a profile: the launch checks this before it shows
            // the onboarding.
            let step = facts.unfinished?.step ?? 0
            facts.unfinished = UnfinishedJob(.filling, user: owner, step: step)
            return enter(owner)
        case .job(.needsPerson(let step)):
            facts.unfinished = UnfinishedJob(.signUp, user: user, step: step)
            return settle(.onboarding(user, step: step), .signUpNeedsPerson(step: step))
        case .job(.waiting): return notify(.signUpWaiting)
        case .job(.removed):
            facts.unfinished = nil
            return settle(.signedOut(.removed))
        case .timerFired: return overdue(.signUpSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budget: budgets.profile, effects: .resumeJob)
        case .person(.giveUp):
            guard problem != nil else { return [] }
            facts.unfinished?.kind = .removal
            return wait(.removing(user), budget: budgets.profile, effects: .undoSignUp)
        case .changed(let change): return hold(change)
        case .person(.signInAgain), .person(.resumeOnboarding), .person(.beginSignUp),
            .person(.goTo), .person(.submit):
            return []
        case .profile, .session, .unlocked, .feedsLive, .feedsLost, .network, .diagnosis: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    mutating func removing(_ event: LaunchEvent) -> [LaunchEffect] {
        switch event {
        case .job(.removed):
            facts.unfinished = nil
            facts.completeProfile = nil
            return settle(.signedOut(.removed))
        case .job(.finished(let owner)):
            // The sign-up was complete before the user gave up: nothing is removed.
            facts.unfinished = nil
            facts.completeProfile = owner
            return ready(owner)
        // The news is older than the user's decision to give up.
        case .job(.signedIn): return []
        case .job(.waiting): return notify(.removalWaiting)
        case .job(.needsPerson): return notify(.removalNeedsSignIn)
        case .timerFired: return overdue(.removalSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budget: budgets.profile, effects: .resumeJob)
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            // The journal keeps the job, and the next sign-in continues it.
            return settle(.signedOut(.asked))
        case .changed(let change): return hold(change)
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .profile, .session, .unlocked, .feedsLive, .feedsLost, .network, .diagnosis: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }
}
