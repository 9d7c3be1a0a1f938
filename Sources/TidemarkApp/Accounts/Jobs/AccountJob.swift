/// A sign-up, or a removal, that survives being killed anywhere: decisions alone.
///
/// What is about to be asked of the server is in the journal before it is asked, so that the next
/// launch knows of everything that may exist. Every request can be repeated: an account by its address
/// or subject, a profile by its precondition. A profile counts once it has been read back. Given up, it
/// takes back what it made, the profile first, because only its owner may remove it; never a profile
/// that it did not write, and never the account that one belongs to.
public struct AccountJob: Hashable, Sendable {
    public enum Work: Hashable, Sendable {
        case idle
        /// The journal is being written: from then on this holds.
        case journalling(AccountRecord?)
        case acting(AccountAct)
        case pausing(AccountAct)
        /// It goes on with the person, who has to do something first, or with the network.
        case parkedForPerson, parkedForNetwork
        case finished(UserID)
        case removed
    }

    /// Between the attempts of one act. Source: journeys 5.
    public static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    /// As it is on disk.
    public private(set) var record: AccountRecord?
    public private(set) var work = Work.idle
    /// Attempts of the present act that have failed, since it was begun or tried again.
    private var failures = 0
    /// Whether the account is being asked for the first time: one that is there already is not ours.
    private var asksFirst = false
    private var wantsUndo = false
    /// Whose profile the server has told of while something else was under way.
    private var hasProfile: UserID?
    /// What the journal could not be made to hold; its nil would have cleared it.
    private var unwritten: AccountRecord??
    /// What to begin once an earlier sign-up has been undone.
    private var next: AccountRecord?

    #if TIDEMARK_DEFECTS
        package var defects: AccountDefects = []
    #endif

    public init() {}

    /// Whether something is under way that will be answered.
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
            guard case .pausing(let act) = work else { return [] }
            return perform(act)
        case .journalled(let isDone): return journalled(isDone)
        case .account, .profile, .compared, .flagSet, .found, .couldNotLook, .login,
            .profileRemoved, .accountRemoved, .erased:
            guard case .acting(let act) = work else { return [] }
            return answered(act, event)
        }
    }

    // MARK: What the person asks for

    private mutating func begin(_ new: AccountRecord) -> [AccountJobEffect] {
        // Twice the same tap.
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
            // Another address or secret: what the first one may have made goes before.
            next = new
            return undo(nil, .maybeMade)
        case .onboarding where new.makesAccountFirst == true:
            // The person signs in once more: the same identity has the same account.
            new.phase = .account
            asksFirst = false
            return write(new)
        case .onboarding(let user, let provenance), .profile(let user, let provenance):
            // The account is there: only the profile is another.
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
            return [.tell(.finished(user))]
        }
        wantsUndo = true
        switch work {
        // What is under way is heard first: only then is it known what there is to undo.
        case .journalling, .acting: return []
        case .finished, .removed: return []
        case .idle, .pausing, .parkedForPerson, .parkedForNetwork: return proceed()
        }
    }

    // MARK: The next act

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
            // Nothing was asked that the journal does not know of.
            unwritten = .some(new)
            work = .parkedForPerson
            return [.tell(.needsPerson(step: record?.step ?? 0))]
        }
        let old = record
        record = new
        if new != nil { return proceed() }
        if case .flag(let user)? = old?.phase {
            work = .finished(user)
            return [.tell(.finished(user))]
        }
        if let next {
            self.next = nil
            work = .idle
            return begin(next)
        }
        work = .removed
        return [.tell(.removed)]
    }

    /// What comes next by what the journal holds.
    private mutating func proceed() -> [AccountJobEffect] {
        guard let record else {
            wantsUndo = false
            work = .removed
            return [.tell(.removed)]
        }
        switch record.phase {
        case .filling:
            if wantsUndo { return write(nil) }
            work = .parkedForPerson
            return [.tell(.needsPerson(step: record.step))]
        case .account:
            if wantsUndo { return undo(nil, .maybeMade) }
            return perform(.makeAccount)
        case .onboarding(let user, let provenance):
            if wantsUndo { return undo(user, provenance) }
            if hasProfile == user { return move(to: .flag(user)) }
            work = .parkedForPerson
            return [.tell(.signedIn(user))]
        case .profile(let user, let provenance):
            if wantsUndo { return undo(user, provenance) }
            return perform(.createProfile(user))
        case .flag(let user):
            // It is complete: nothing is left to be given up.
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
        // What was there before stays as it is, with the profile that it may have now.
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

    private mutating func perform(_ act: AccountAct) -> [AccountJobEffect] {
        work = .acting(act)
        return [.perform(act)]
    }

    /// Tries the same again after a pause, and after the last one waits for a network or the person.
    private mutating func again(_ act: AccountAct) -> [AccountJobEffect] {
        if wantsUndo { return proceed() }
        guard failures < Self.pauses.count else {
            failures = 0
            work = .parkedForNetwork
            return [.tell(.waiting)]
        }
        failures += 1
        work = .pausing(act)
        return [.pause(Self.pauses[failures - 1])]
    }

    private mutating func ask(_ phase: AccountRecord.Phase) -> [AccountJobEffect] {
        guard record?.phase != phase else {
            if wantsUndo { return proceed() }
            work = .parkedForPerson
            return [.tell(.needsPerson(step: record?.step ?? 0))]
        }
        return move(to: phase)
    }
}

// MARK: - Answers

extension AccountJob {
    private mutating func answered(
        _ act: AccountAct, _ event: AccountJobEvent
    ) -> [AccountJobEffect] {
        switch (act, event) {
        case (.makeAccount, .account(let answer)): return hear(answer)
        case (.createProfile(let user), .profile(let answer)): return hear(answer, user)
        case (.readProfile(let user), .compared(let comparison)): return hear(comparison, user)
        case (.setFlag, .flagSet(true)): return write(nil)
        case (.setFlag, .flagSet(false)): return again(act)
        case (.findAccount, .found(let user?)): return move(to: .undoing(user, .maybeMade))
        case (.findAccount, .found(nil)): return perform(.eraseLocal(nil))
        case (.findAccount, .couldNotLook(secretGone: true)): return perform(.eraseLocal(nil))
        case (.findAccount, .couldNotLook(secretGone: false)): return again(act)
        case (.checkLogin(let user), .login(let answer)):
            return removed(act, answer, then: .removeProfile(user, onlyOwn: false))
        case (.removeProfile(let user, let onlyOwn), .profileRemoved(let answer)):
            // Who has a profile from before keeps the account too.
            if onlyOwn, answer == .notOwn { return perform(.eraseLocal(user)) }
            return removed(act, answer, then: .removeAccount(user))
        case (.removeAccount(let user), .accountRemoved(let answer)):
            #if TIDEMARK_DEFECTS
                if defects.contains(.removesAccountFirst), answer == .gone {
                    return perform(.removeProfile(user, onlyOwn: true))
                }
            #endif
            return removed(act, answer, then: .eraseLocal(user))
        case (.eraseLocal, .erased): return write(nil)
        // The answer to something else: an act has only its own.
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
            return [.tell(.needsPerson(step: record?.step ?? 0))]
        }
    }

    private mutating func hear(
        _ comparison: ProfileComparison, _ user: UserID
    ) -> [AccountJobEffect] {
        switch comparison {
        // One that another device has written is the person's too: it is kept as it is.
        case .same, .different: return move(to: .flag(user))
        case .absent: return again(.createProfile(user))
        case .unreachable: return again(.readProfile(user))
        }
    }

    private mutating func removed(
        _ act: AccountAct, _ answer: RemovalAnswer, then next: AccountAct
    ) -> [AccountJobEffect] {
        switch answer {
        case .gone, .notOwn:
            failures = 0
            return perform(next)
        case .unreachable: return again(act)
        case .needsLogin:
            work = .parkedForPerson
            return [.tell(.needsPerson(step: record?.step ?? 0))]
        }
    }
}

#if TIDEMARK_DEFECTS
    /// What the old app did, to see that the model check finds it. Debug builds only.
    package struct AccountDefects: OptionSet, Hashable, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The account came first, and the word about it later.
        package static let asksBeforeJournal = AccountDefects(rawValue: 1)
        /// … and went first, when it was undone.
        package static let removesAccountFirst = AccountDefects(rawValue: 2)
        /// A profile counted once it had been sent.
        package static let skipsReadingBack = AccountDefects(rawValue: 4)
    }
#endif
