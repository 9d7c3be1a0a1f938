import Testing
import TestSupport

@testable import TidemarkApp

/// A device with a job and its journal, and a server. Any answer can get lost, and the app can be
/// killed at any point.
private struct JobWorld: Hashable {
    enum Profile: Hashable { case none, own, another }

    var job = AccountJob()
    var disk: AccountRecord?
    struct Account: Hashable {
        let number: Int
        /// The address with which the account was made.
        let address: String
    }

    /// The user's accounts, including earlier ones.
    var accounts: [Account] = []
    /// The number of the account that existed before this sign-up; 0 for none.
    var older = 0
    var profile = Profile.none
    var hasFlag = false
    /// True if a second request makes a second account, as with the server's anonymous accounts.
    var makesAnother = false
    /// True if the job removes an account.
    var isRemoval = false
    /// True if the account is made before the onboarding, as with Sign in with Apple.
    var isAccountFirst = false
    var kills = 0
    /// True if the job removed something that it did not make.
    var hasDoneHarm = false

    static func user(_ number: Int) -> UserID { UserID("u\(number)")! }
}

private enum WorldEvent: Hashable {
    /// The act succeeds and its answer arrives; its answer is lost; it does not reach the server.
    case done, lost, failed
    case killed
    /// The app is killed after the act succeeded and before its answer arrives.
    case killedAfter
    case person(String)
    case refused
    /// The device reports success but only keeps the act for later.
    case onlyQueued
}

extension JobWorld {
    /// Returns every event that can happen now, each with the world after it.
    func next(mayKill: Int) -> [(WorldEvent, JobWorld)] {
        var all: [(WorldEvent, JobWorld)] = []
        func add(_ event: WorldEvent, _ change: (inout JobWorld) -> Void) {
            var world = self
            change(&world)
            all.append((event, world))
        }
        switch job.work {
        case .journalling(let record):
            add(.done) {
                $0.disk = record; $0.hear(.journalled(true))
            }
            add(.failed) { $0.hear(.journalled(false)) }
            if kills < mayKill {
                add(.killedAfter) {
                    $0.disk = record; $0.kill()
                }
            }
        case .acting(let act):
            add(.done) {
                let answer = $0.perform(act); $0.hear(answer)
            }
            if let failure = Self.failure(of: act) {
                add(.lost) {
                    _ = $0.perform(act); $0.hear(failure)
                }
                add(.failed) { $0.hear(failure) }
            }
            if kills < mayKill {
                add(.killedAfter) {
                    _ = $0.perform(act); $0.kill()
                }
            }
            if case .createProfile = act, profile == .none {
                add(.onlyQueued) { $0.hear(.profile(.created)) }
            }
            if act == .makeAccount, !accounts.contains(where: { $0.number != older }) {
                add(.refused) { $0.hear(.account(.refused)) }
            }
        case .pausing: add(.done) { $0.hear(.pauseOver) }
        case .parkedForNetwork:
            add(.person("tries again")) { $0.hear(.tryAgain) }
            if isAccountFirst { add(.person("has a network")) { $0.hear(.networkIsBack) } }
        case .parkedForPerson where isAccountFirst:
            add(.person("tries again")) { $0.hear(.tryAgain) }
            if case .onboarding(let user, _)? = job.record?.phase {
                add(.person("corrects it")) {
                    $0.hear(
                        .begin(
                            AccountRecord(
                                id: "p", method: .customToken, profile: [1],
                                phase: .filling(user))))
                }
                if profile != .none { add(.person("launches")) { $0.hear(.profileFound(user)) } }
            } else {
                add(.person("corrects it")) { $0.hear(.begin(Self.apple)) }
            }
        case .parkedForPerson:
            if !isRemoval, older == 0, disk?.user == nil {
                add(.person("takes another address")) { $0.hear(.begin(Self.other)) }
            }
            if !isRemoval { add(.person("corrects it")) { $0.hear(.begin(Self.filled)) } }
            add(.person("tries again")) { $0.hear(.tryAgain) }
        case .idle, .finished, .removed: break
        }
        if kills < mayKill { add(.killed) { $0.kill() } }
        switch job.work {
        case .idle, .finished, .removed: break
        default: add(.person("gives up")) { $0.hear(.giveUp) }
        }
        return all
    }

    static let filled = AccountRecord(
        id: "s", method: .password(email: "a@b.c"), profile: [1])

    /// The record of one identity at Apple, whatever token is sent with it.
    static let apple = AccountRecord(
        id: "s", method: .provider("apple.com"), profile: [], makesAccountFirst: true)

    static let other = AccountRecord(
        id: "t", method: .password(email: "d@b.c"), profile: [1])

    mutating func hear(_ event: AccountJobEvent) { _ = job.step(event) }

    mutating func kill() {
        kills += 1
        #if TIDEMARK_DEFECTS
            let defects = job.defects
            job = AccountJob()
            job.defects = defects
        #else
            job = AccountJob()
        #endif
        hear(.resume(disk))
    }

    /// Performs an act on the server or the device, and returns the answer.
    private mutating func perform(_ act: AccountAction) -> AccountJobEvent {
        switch act {
        case .makeAccount:
            let address = job.record?.id ?? ""
            if let known = accounts.first(where: { $0.address == address }), !makesAnother {
                return .account(.existed(Self.user(known.number)))
            }
            // An address gets the same number each time; otherwise the graph would never close.
            let number = makesAnother ? accounts.count + 2 : address == "t" ? 2 : 3
            if makesAnother, accounts.count == 3 { return .account(.unreachable) }
            accounts.append(Account(number: number, address: address))
            return .account(.made(Self.user(number)))
        case .createProfile:
            if profile != .none { return .profile(.exists) }
            profile = .own
            return .profile(.created)
        case .readProfile:
            return .compared(profile == .none ? .absent : profile == .own ? .same : .different)
        case .setFlag:
            hasFlag = true
            return .flagSet(true)
        case .findAccount:
            let known = accounts.first { $0.address == job.record?.id }
            return .found(known.map { Self.user($0.number) })
        case .checkLogin: return .login(.gone)
        case .removeProfile(_, let onlyOwn):
            if profile == .another, onlyOwn { return .profileRemoved(.notOwn) }
            if profile == .another { hasDoneHarm = true }
            profile = .none
            return .profileRemoved(.gone)
        case .removeAccount(let user):
            // After a lost answer, an account without a profile can be taken for this sign-up's.
            if Self.user(older) == user, profile != .none || isKnownAsOlder { hasDoneHarm = true }
            accounts.removeAll { Self.user($0.number) == user }
            return .accountRemoved(.gone)
        case .eraseLocal:
            hasFlag = false
            return .erased
        }
    }

    private var isKnownAsOlder: Bool {
        if case .undoing(_, .found)? = disk?.phase { true } else { false }
    }

    private static func failure(of act: AccountAction) -> AccountJobEvent? {
        switch act {
        case .makeAccount: .account(.unreachable)
        case .createProfile: .profile(.unreachable)
        case .readProfile: .compared(.unreachable)
        case .setFlag: .flagSet(false)
        case .findAccount: .couldNotLook(secretGone: false)
        case .checkLogin: .login(.unreachable)
        case .removeProfile: .profileRemoved(.unreachable)
        case .removeAccount: .accountRemoved(.unreachable)
        case .eraseLocal: nil
        }
    }

    /// The faults of this state, whatever happens next.
    var faults: [String] {
        var faults: [String] = []
        let own = accounts.filter { $0.number != older }
        if own.count > 1 { faults.append("makes a second account") }
        if !own.isEmpty, profile == .none, disk == nil { faults.append("leaves an account alone") }
        if accounts.isEmpty, profile != .none { faults.append("leaves a profile alone") }
        if hasDoneHarm { faults.append("removes what it did not make") }
        switch job.work {
        case .finished:
            if accounts.isEmpty || profile == .none || !hasFlag || disk != nil {
                faults.append("calls finished what is not")
            }
        case .removed:
            if !own.isEmpty || profile == .own && older == 0 || disk != nil {
                faults.append("calls removed what is not")
            }
        default: break
        }
        return faults
    }
}

@Suite(.ownThread) struct `Every sign-up that can be` {
    private func check(_ start: JobWorld, mayKill: Int = 2) throws -> (
        wrong: Set<String>, summary: String
    ) {
        let graph = try #require(
            Graph<JobWorld, WorldEvent>(from: [start]) { $0.next(mayKill: mayKill) },
            "the graph does not close")
        var wrong = Set(graph.nodes.flatMap(\.faults))
        let isOver: (JobWorld) -> Bool = { world in
            switch world.job.work {
            case .finished, .removed: true
            case .idle: world.disk == nil
            default: false
            }
        }
        // Once every act succeeds, the job ends if the user only retries or corrects the input.
        let stuck = graph.stranded(from: isOver) { edge in
            switch edge.event {
            case .done, .person("tries again"), .person("corrects it"): true
            default: false
            }
        }
        if !stuck.isEmpty { wrong.insert("has no way out") }
        let left = graph.stranded(from: isOver) { edge in
            switch edge.event {
            case .done, .person("tries again"), .person("gives up"): true
            default: false
            }
        }
        if !left.isEmpty { wrong.insert("cannot be given up") }
        let circle = graph.circle(along: { edge in
            if case .person = edge.event { false } else { true }
        }) { _ in true }
        if circle != nil { wrong.insert("goes in a circle without the person") }
        return (
            wrong,
            "\(graph.nodes.count) states, \(graph.edges.count) edges, closed at depth \(graph.depth)"
        )
    }

    private func begun(_ change: (inout JobWorld) -> Void = { _ in }) -> JobWorld {
        var world = JobWorld()
        change(&world)
        world.hear(.begin(JobWorld.filled))
        return world
    }

    /// Covers Sign in with Apple: the onboarding follows the account, and the profile is made last.
    /// The app is killed at any point, up to twice, with and without an earlier account and
    /// profile.
    @Test(arguments: [false, true], [JobWorld.Profile.none, .another])
    fileprivate func `with the account first leaves nothing alone`(
        hasAccount: Bool, profile: JobWorld.Profile
    ) throws {
        if !hasAccount, profile != .none { return }
        var world = JobWorld()
        world.isAccountFirst = true
        if hasAccount {
            world.accounts = [Self.account]
            world.older = 1
            world.profile = profile
        }
        world.hear(.begin(JobWorld.apple))
        let (wrong, summary) = try check(world)
        #expect(wrong.isEmpty, "\(wrong), \(summary)")
    }

    private static let account = JobWorld.Account(number: 1, address: "s")

    private static let before: [(JobWorld.Profile, Bool)] = [
        (.none, false), (.none, true), (.another, true),
    ]

    @Test(arguments: 0..<3)
    func `ends with both account and profile, or with neither`(index: Int) throws {
        let (profile, hasOlder) = Self.before[index]
        let world = begun { world in
            world.profile = profile
            if hasOlder {
                world.older = 1
                world.accounts = [Self.account]
            }
        }
        let (wrong, summary) = try check(world)
        print("sign-up, profile before \(profile), account before \(hasOlder): \(summary)")
        #expect(wrong.isEmpty)
    }

    @Test func `of a profile that is missing makes no account`() throws {
        var world = JobWorld(accounts: [Self.account])
        var record = JobWorld.filled
        record.phase = .filling(JobWorld.user(1))
        world.hear(.begin(record))
        world.older = 1
        let (wrong, summary) = try check(world)
        print("profile of an account from before: \(summary)")
        #expect(wrong.isEmpty)
    }

    @Test func `and every removal leaves neither alone`() throws {
        var world = JobWorld(
            accounts: [Self.account], profile: .own, hasFlag: true, isRemoval: true)
        var record = JobWorld.filled
        record.phase = .deleting(JobWorld.user(1))
        world.hear(.delete(record))
        let (wrong, summary) = try check(world)
        print("removal: \(summary)")
        #expect(wrong.isEmpty)
    }

    #if TIDEMARK_DEFECTS
        @Test(arguments: [
            (AccountDefects.asksBeforeJournal, "leaves an account alone"),
            (.removesAccountFirst, "leaves a profile alone"),
            (.skipsReadingBack, "calls finished what is not"),
        ])
        func `is found out when it does what the old app did`(
            defect: AccountDefects, fault: String
        ) throws {
            let world = begun { world in world.job.defects = defect }
            #expect(try check(world).wrong.contains(fault))
        }
    #endif

    /// Shows why a sign-up does not use the server's anonymous accounts.
    @Test func `with an account that cannot be asked for twice makes two`() throws {
        var world = begun { $0.makesAnother = true }
        // The job writes its journal, asks and loses the answer, pauses, and asks again.
        for event in [WorldEvent.done, .lost, .done, .done] {
            world = try #require(world.next(mayKill: 0).first { $0.0 == event }).1
        }
        #expect(world.faults.contains("makes a second account"))
    }
}
