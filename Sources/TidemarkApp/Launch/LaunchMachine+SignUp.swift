// The states between an account and its profile.

extension LaunchMachine {
    mutating func signedIn(_ event: LaunchEvent, _ user: UserID) -> [LaunchEffect] {
        switch event {
        case .profile(.found, of: user):
            // The flag was lost, or never set: repaired without a word.
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
                    return wait(state, budgets.profile, .loadProfile(user))
                }
            #endif
            return tell(.profileUnavailable)
        // Of somebody who was signed in before.
        case .profile: return []
        case .timerFired: return overdue(.profileSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budgets.profile, .loadProfile(user))
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            return settle(.signedOut(.asked)) + [.endSession]
        case .changed(let change): return apply(change)
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .session, .unlocked, .job, .feedsLive, .feedsLost: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }

    /// Also where a profile is missing: the person goes on with the step at which it stopped.
    mutating func onboarding(
        _ event: LaunchEvent, _ user: UserID?, _ step: Int
    ) -> [LaunchEffect] {
        switch event {
        case .person(.resumeOnboarding(let next)):
            // The person has gone on already: it would take back their step.
            if case .onboarding = state { return [] }
            return settle(.onboarding(user, step: next)) + [.keepStep(next)]
        case .person(.goTo(let next)):
            return settle(.onboarding(user, step: next)) + [.keepStep(next)]
        case .person(.submit):
            facts.unfinished = UnfinishedJob(.signUp, user: user, step: step)
            return wait(
                .profilePending(user), budgets.profile, .beginSignUp(user, step: step))
        case .person(.giveUp):
            // What has no account has made nothing, unless the journal says that it may have.
            guard user != nil || facts.unfinished != nil else { return settle(.signedOut(.asked)) }
            facts.unfinished = UnfinishedJob(.removal, user: user, step: step)
            return wait(.removing(user), budgets.profile, .undoSignUp)
        case .person(.signInAgain):
            if user != nil { return settle(.signedOut(.asked)) + [.endSession] }
            // What the sign-up may have made is not left behind for another account.
            return onboarding(.person(.giveUp), nil, step)
        case .changed(let change):
            #if TIDEMARK_DEFECTS
                if defects.contains(.signedInWithoutUser), user == nil {
                    return settle(.profilePending(nil))
                }
            #endif
            return hold(change)
        // Also one that another device has made meanwhile: the job finds it, and keeps it.
        case .profile: return []
        case .person(.tryAgain), .person(.beginSignUp): return []
        case .timerFired, .session, .unlocked, .job, .feedsLive, .feedsLost: return []
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
            // Somebody who has signed up before has a profile: asked before the onboarding is shown.
            let step = facts.unfinished?.step ?? 0
            facts.unfinished = UnfinishedJob(.filling, user: owner, step: step)
            return enter(owner)
        case .job(.needsPerson(let step)):
            facts.unfinished = UnfinishedJob(.signUp, user: user, step: step)
            return settle(.onboarding(user, step: step), .signUpNeedsPerson(step: step))
        case .job(.waiting): return tell(.signUpWaiting)
        case .job(.removed):
            facts.unfinished = nil
            return settle(.signedOut(.removed))
        case .timerFired: return overdue(.signUpSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budgets.profile, .resumeJob)
        case .person(.giveUp):
            guard problem != nil else { return [] }
            facts.unfinished?.kind = .removal
            return wait(.removing(user), budgets.profile, .undoSignUp)
        case .changed(let change): return hold(change)
        case .person(.signInAgain), .person(.resumeOnboarding), .person(.beginSignUp),
            .person(.goTo), .person(.submit):
            return []
        case .profile, .session, .unlocked, .feedsLive, .feedsLost: return []
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
            // It was complete already, before it could be given up: nothing is taken away.
            facts.unfinished = nil
            facts.completeProfile = owner
            return ready(owner)
        // From before it was given up.
        case .job(.signedIn): return []
        case .job(.waiting): return tell(.removalWaiting)
        case .job(.needsPerson): return tell(.removalNeedsSignIn)
        case .timerFired: return overdue(.removalSlow)
        case .person(.tryAgain):
            guard problem != nil else { return [] }
            return wait(state, budgets.profile, .resumeJob)
        case .person(.signInAgain):
            guard problem != nil else { return [] }
            // The journal keeps the job, and the next sign-in goes on with it.
            return settle(.signedOut(.asked))
        case .changed(let change): return hold(change)
        case .person(.resumeOnboarding), .person(.beginSignUp), .person(.goTo), .person(.submit),
            .person(.giveUp):
            return []
        case .profile, .session, .unlocked, .feedsLive, .feedsLost: return []
        case .start, .localReady, .localFailed, .contentShown: return []
        }
    }
}
