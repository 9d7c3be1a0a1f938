/// A sign-up, or a removal, that survives a kill at any point. Contains only decisions.
///
/// Each request to the server is in the journal before it is sent, so the next launch knows
/// everything that may exist. Every request can be repeated: an account by its address or subject,
/// a profile by its precondition. A profile counts after it was read back. If the user gives up,
/// the job removes its own creations, first the profile, because only its owner may remove it. The
/// job never removes a profile that it did not write, nor the account of such a profile.
public struct AccountJob: Hashable, Sendable {
    public enum Work: Hashable, Sendable {
        case idle
        /// The job writes the journal. The new record counts after that.
        case journalling(AccountRecord?)
        case acting(AccountAction)
        case pausing(AccountAction)
        /// The job waits for the user, who has to do something first, or for the network.
        case parkedForPerson, parkedForNetwork
        case finished(UserID)
        case removed
    }

    /// The pauses between the attempts of an action. Source: journeys 5.
    public static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    /// The record on disk.
    public private(set) var record: AccountRecord?
    public private(set) var work = Work.idle
    /// The number of failed attempts of the present action, since it began or the user retried.
    private var failures = 0
    /// True if this is the first request for the account: an account that exists already was not
    /// created by the job.
    private var asksFirst = false
    private var wantsUndo = false
    /// The user with a profile according to the server, which reported it during another action.
    private var hasProfile: UserID?
    /// The record that could not be written to the journal; its inner nil means that the journal
    /// could not be cleared.
    private var unwritten: AccountRecord??
    /// The record to begin with after an earlier sign-up has been undone.
    private var next: AccountRecord?

    #if TIDEMARK_DEFECTS
        package var defects: AccountDefects = []
    #endif

    public init() {}

    /// True if an action runs whose answer is expected.
    public var isBusy: Bool {
        switch work {
        case .journalling, .acting, .pausing: true
        case .idle, .parkedForPerson, .parkedForNetwork, .finished, .removed: false
        }
    }

    public mutating func step(_ event: AccountJobEvent) -> [AccountJobEffect] {
        switch event {
        case .resume(let record):
            guard case .idle = work else { return [] }
            self.record = record
            return record == nil ? [] : proceed()
        case .recall(let record):
            if !isBusy { self.record = record }
            return []
        case .begin(let record): return begin(record)
        case .delete(let record): return delete(record)
        case .giveUp: return giveUp()
        case .tryAgain:
            guard work == .parkedForNetwork || work == .parkedForPerson else { return [] }
            failures = 0
            if let unwritten { return write(unwritten) }
            return proceed()
        case .networkIsBack:
            guard work == .parkedForNetwork else { return [] }
            failures = 0
            if let unwritten { return write(unwritten) }
            return proceed()
        case .profileFound(let user):
            if isBusy { hasProfile = user }
            guard !isBusy, !wantsUndo, case .onboarding(user, _)? = record?.phase else { return [] }
            return move(to: .flag(user))
        case .pauseOver:
            guard case .pausing(let action) = work else { return [] }
            return perform(action)
        case .journalled(let isDone): return journalled(isDone)
        case .account, .profile, .compared, .flagSet, .found, .couldNotLook, .login,
            .profileRemoved, .accountRemoved, .erased:
            guard case .acting(let action) = work else { return [] }
            return answered(action, event)
        }
    }

    // MARK: What the person asks for

    private mutating func begin(_ new: AccountRecord) -> [AccountJobEffect] {
        // The user has tapped twice.
        if isBusy { return [] }
        failures = 0
        wantsUndo = false
        var new = new
        if new.makesAccountFirst == true, let record { new.keepDraft(of: record) }
        switch record?.phase {
        case nil, .filling: break
        case .account:
            if record?.id == new.id {
                new.phase = .account
                return write(new)
            }
            // The address or the secret differs: the possible account of the first attempt is
            // removed first.
            next = new
            return undo(nil, .maybeMade)
        case .onboarding where new.makesAccountFirst == true:
            // The user signs in once more: the same identity has the same account.
            new.phase = .account
            asksFirst = false
            return write(new)
        case .onboarding(let user, let provenance), .profile(let user, let provenance):
            // The account exists: only the profile differs.
            new.id = record?.id ?? new.id
            new.method = record?.method ?? new.method
            new.phase = .profile(user, provenance)
            return write(new)
        case .flag, .undoing, .deleting: return proceed()
        }
        if new.makesAccountFirst != true, let user = new.user ?? record?.user {
            new.phase = .profile(user, .found)
            return write(new)
        }
        new.phase = .account
        asksFirst = true
        #if TIDEMARK_DEFECTS
            if defects.contains(.asksBeforeJournal) {
                record = new
                return perform(.makeAccount)
            }
        #endif
        return write(new)
    }

    private mutating func delete(_ new: AccountRecord) -> [AccountJobEffect] {
        if isBusy { return [] }
        failures = 0
        return write(new)
    }

    private mutating func giveUp() -> [AccountJobEffect] {
        if case .deleting(let user)? = unwritten?.flatMap({ $0.phase }) {
            // Nothing has been deleted.
            unwritten = nil
            work = .finished(user)
            return [.notify(.finished(user))]
        }
        wantsUndo = true
        switch work {
        // The answer of the running action arrives first: only then is known what must be undone.
        case .journalling, .acting: return []
        case .finished, .removed: return []
        case .idle, .pausing, .parkedForPerson, .parkedForNetwork: return proceed()
        }
    }

    // MARK: The next action

    private mutating func write(_ record: AccountRecord?) -> [AccountJobEffect] {
        unwritten = nil
        work = .journalling(record)
        return [.journal(record)]
    }

    private mutating func move(to phase: AccountRecord.Phase) -> [AccountJobEffect] {
        guard var record else { return [] }
        failures = 0
        record.phase = phase
        return write(record)
    }

    private mutating func undo(
        _ user: UserID?, _ provenance: AccountRecord.Provenance
    ) -> [AccountJobEffect] {
        wantsUndo = false
        return move(to: .undoing(user, provenance))
    }

    private mutating func journalled(_ isDone: Bool) -> [AccountJobEffect] {
        guard case .journalling(let new) = work else { return [] }
        guard isDone else {
            // The server received no request that is missing in the journal.
            unwritten = .some(new)
            work = .parkedForPerson
            return [.notify(.needsPerson(step: record?.step ?? 0))]
        }
        let old = record
        record = new
        if new != nil { return proceed() }
        if case .flag(let user)? = old?.phase {
            work = .finished(user)
            return [.notify(.finished(user))]
        }
        if let next {
            self.next = nil
            work = .idle
            return begin(next)
        }
        work = .removed
        return [.notify(.removed)]
    }

    /// Starts the next action according to the journal.
    private mutating func proceed() -> [AccountJobEffect] {
        guard let record else {
            wantsUndo = false
            work = .removed
            return [.notify(.removed)]
        }
        switch record.phase {
        case .filling:
            if wantsUndo { return write(nil) }
            work = .parkedForPerson
            return [.notify(.needsPerson(step: record.step))]
        case .account:
            if wantsUndo { return undo(nil, .maybeMade) }
            return perform(.makeAccount)
        case .onboarding(let user, let provenance):
            if wantsUndo { return undo(user, provenance) }
            if hasProfile == user { return move(to: .flag(user)) }
            work = .parkedForPerson
            return [.notify(.signedIn(user))]
        case .profile(let user, let provenance):
            if wantsUndo { return undo(user, provenance) }
            return perform(.createProfile(user))
        case .flag(let user):
            // The sign-up is complete: giving up has no effect.
            wantsUndo = false
            return perform(.setFlag(user))
        case .undoing, .deleting:
            wantsUndo = false
            return remove(record.phase)
        }
    }

    private mutating func remove(_ phase: AccountRecord.Phase) -> [AccountJobEffect] {
        switch phase {
        case .undoing(nil, _): return perform(.findAccount)
        // An account from before stays unchanged, with the profile that it may have now.
        case .undoing(let user?, .found): return perform(.eraseLocal(user))
        case .undoing(let user?, _):
            #if TIDEMARK_DEFECTS
                if defects.contains(.removesAccountFirst) { return perform(.removeAccount(user)) }
            #endif
            return perform(.removeProfile(user, onlyOwn: true))
        case .deleting(let user): return perform(.checkLogin(user))
        case .filling, .account, .onboarding, .profile, .flag: return []
        }
    }

    private mutating func perform(_ action: AccountAction) -> [AccountJobEffect] {
        work = .acting(action)
        return [.perform(action)]
    }

    /// Repeats the action after a pause. After the last pause, the job waits for a network or the
    /// user.
    private mutating func again(_ action: AccountAction) -> [AccountJobEffect] {
        if wantsUndo { return proceed() }
        guard failures < Self.pauses.count else {
            failures = 0
            work = .parkedForNetwork
            return [.notify(.waiting)]
        }
        failures += 1
        work = .pausing(action)
        return [.pause(Self.pauses[failures - 1])]
    }

    private mutating func ask(_ phase: AccountRecord.Phase) -> [AccountJobEffect] {
        guard record?.phase != phase else {
            if wantsUndo { return proceed() }
            work = .parkedForPerson
            return [.notify(.needsPerson(step: record?.step ?? 0))]
        }
        return move(to: phase)
    }
}

// MARK: - Answers

extension AccountJob {
    private mutating func answered(
        _ action: AccountAction, _ event: AccountJobEvent
    ) -> [AccountJobEffect] {
        switch (action, event) {
        case (.makeAccount, .account(let answer)): return hear(answer)
        case (.createProfile(let user), .profile(let answer)): return hear(answer, user)
        case (.readProfile(let user), .compared(let comparison)): return hear(comparison, user)
        case (.setFlag, .flagSet(true)): return write(nil)
        case (.setFlag, .flagSet(false)): return again(action)
        case (.findAccount, .found(let user?)): return move(to: .undoing(user, .maybeMade))
        case (.findAccount, .found(nil)): return perform(.eraseLocal(nil))
        case (.findAccount, .couldNotLook(secretGone: true)): return perform(.eraseLocal(nil))
        case (.findAccount, .couldNotLook(secretGone: false)): return again(action)
        case (.checkLogin(let user), .login(let answer)):
            return removed(action, answer, then: .removeProfile(user, onlyOwn: false))
        case (.removeProfile(let user, let onlyOwn), .profileRemoved(let answer)):
            // A user with an earlier profile also keeps the account.
            if onlyOwn, answer == .notOwn { return perform(.eraseLocal(user)) }
            return removed(action, answer, then: .removeAccount(user))
        case (.removeAccount(let user), .accountRemoved(let answer)):
            #if TIDEMARK_DEFECTS
                if defects.contains(.removesAccountFirst), answer == .gone {
                    return perform(.removeProfile(user, onlyOwn: true))
                }
            #endif
            return removed(action, answer, then: .eraseLocal(user))
        case (.eraseLocal, .erased): return write(nil)
        // The event answers another action, and is ignored.
        case (.makeAccount, _), (.createProfile, _), (.readProfile, _), (.setFlag, _),
            (.findAccount, _), (.checkLogin, _), (.removeProfile, _), (.removeAccount, _),
            (.eraseLocal, _):
            return []
        }
    }

    private mutating func hear(_ answer: AccountAnswer) -> [AccountJobEffect] {
        let isFirst = asksFirst
        asksFirst = false
        switch answer {
        case .made(let user): return found(user, .made)
        case .existed(let user): return found(user, isFirst ? .found : .maybeMade)
        case .taken, .refused: return ask(.filling(nil))
        case .unreachable: return again(.makeAccount)
        case .secretGone: return ask(.account)
        }
    }

    private mutating func found(
        _ user: UserID, _ provenance: AccountRecord.Provenance
    ) -> [AccountJobEffect] {
        let isFirst = record?.makesAccountFirst == true
        return move(to: isFirst ? .onboarding(user, provenance) : .profile(user, provenance))
    }

    private mutating func hear(_ answer: ProfileAnswer, _ user: UserID) -> [AccountJobEffect] {
        switch answer {
        case .created, .exists:
            #if TIDEMARK_DEFECTS
                if defects.contains(.skipsReadingBack) { return move(to: .flag(user)) }
            #endif
            return perform(.readProfile(user))
        case .unreachable: return again(.createProfile(user))
        case .refused:
            if wantsUndo { return proceed() }
            work = .parkedForPerson
            return [.notify(.needsPerson(step: record?.step ?? 0))]
        }
    }

    private mutating func hear(
        _ comparison: ProfileComparison, _ user: UserID
    ) -> [AccountJobEffect] {
        switch comparison {
        // A profile that another device has written also belongs to the user: it stays unchanged.
        case .same, .different: return move(to: .flag(user))
        case .absent: return again(.createProfile(user))
        case .unreachable: return again(.readProfile(user))
        }
    }

    private mutating func removed(
        _ action: AccountAction, _ answer: RemovalAnswer, then next: AccountAction
    ) -> [AccountJobEffect] {
        switch answer {
        case .gone, .notOwn:
            failures = 0
            return perform(next)
        case .unreachable: return again(action)
        case .needsLogin:
            work = .parkedForPerson
            return [.notify(.needsPerson(step: record?.step ?? 0))]
        }
    }
}

#if TIDEMARK_DEFECTS
    /// The mistakes of the old app, which prove that the model check finds them. Debug builds only.
    package struct AccountDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The account was created before the journal entry.
        package static let asksBeforeJournal = AccountDefects(rawValue: 1)
        /// The account was removed before the profile during an undo.
        package static let removesAccountFirst = AccountDefects(rawValue: 2)
        /// A profile counted after it was sent.
        package static let skipsReadingBack = AccountDefects(rawValue: 4)
    }
#endif
