import Testing
import TidemarkResilience

struct `One call's attempts` {
    private func machine(
        _ policy: RetryPolicy = .mobile, _ safety: CallSafety = .read, deadline: Duration? = nil
    ) -> RetryMachine {
        var machine = RetryMachine(policy, safety, deadline: deadline)
        _ = machine.step(.start(isOnline: true), at: .zero)
        return machine
    }

    private func failed(
        _ kind: Failure.Kind = .transient, hint: Failure.Hint? = nil, hadNoEffect: Bool = false,
        jitter: Double = 0.5, isOnline: Bool = true, budgetAllows: Bool = true
    ) -> RetryMachine.Event {
        .failed(
            Failure(kind, hint: hint, hadNoEffect: hadNoEffect), jitter: jitter,
            isOnline: isOnline, budgetAllows: budgetAllows)
    }

    @Test func `on a phone waits 2, 4 and 8 s, and gives each attempt 10 s of its own`() {
        var machine = RetryMachine(.mobile, .read)
        #expect(machine.step(.start(isOnline: true), at: .zero) == .attempt(timeout: .seconds(10)))
        for (delay, now) in [(2, 10), (4, 22), (8, 36)] {
            #expect(machine.step(failed(), at: .seconds(now)) == .wait(.seconds(delay)))
            #expect(
                machine.step(.ready, at: .seconds(now + delay)) == .attempt(timeout: .seconds(10)))
        }
        #expect(machine.step(failed(), at: .seconds(54)) == .giveUp(.attempts))
        #expect(machine.attempts.map(\.number) == [1, 2, 3, 4])
        #expect(machine.attempts.map(\.began) == [0, 12, 26, 44].map { .seconds($0) })
    }

    @Test func `scales every delay for tests`() {
        var policy = RetryPolicy.mobile
        policy.delayScale = 0.001
        var machine = machine(policy)
        #expect(machine.step(failed(), at: .zero) == .wait(.milliseconds(2)))
    }

    @Test(arguments: [
        (Failure.Kind.permanent, RetryMachine.Reason.permanent), (.cancelled, .cancelled),
    ])
    func `ends at what will not pass`(kind: Failure.Kind, reason: RetryMachine.Reason) {
        var machine = machine()
        #expect(machine.step(failed(kind), at: .zero) == .giveUp(reason))
    }

    @Test func `the last attempt gets what is left, and no wait begins that cannot end in time`() {
        var machine = machine(deadline: .seconds(15))
        #expect(machine.step(failed(), at: .seconds(5)) == .wait(.seconds(2)))
        #expect(machine.step(.ready, at: .seconds(7)) == .attempt(timeout: .seconds(8)))
        #expect(machine.step(failed(), at: .seconds(11)) == .giveUp(.deadline))
    }

    @Test func `what may have happened is not done twice, unless twice is once`() {
        var write = machine(.mobile, .write)
        #expect(write.step(failed(), at: .zero) == .giveUp(.mayHaveHappened))
        write = machine(.mobile, .write)
        #expect(write.step(failed(hadNoEffect: true), at: .zero) == .wait(.seconds(2)))
        var named = machine(.mobile, .idempotentWrite)
        #expect(named.step(failed(), at: .zero) == .wait(.seconds(2)))
    }

    @Test func `without a network it waits for one, and that costs no attempt`() {
        var machine = RetryMachine(.mobile, .read, deadline: .seconds(100))
        #expect(
            machine.step(.start(isOnline: false), at: .zero)
                == .awaitNetwork(timeout: .seconds(100)))
        var now = 10
        for _ in 0..<20 {
            #expect(
                machine.step(.ready, at: .seconds(now)) == .attempt(timeout: .seconds(10)))
            #expect(
                machine.step(failed(isOnline: false), at: .seconds(now + 1))
                    == .awaitNetwork(timeout: .seconds(99 - now)))
            now += 2
        }
        _ = machine.step(.ready, at: .seconds(now))
        #expect(machine.step(failed(), at: .seconds(now)) == .wait(.seconds(2)), "the first retry")
        var once = RetryMachine(.none, .read)
        #expect(once.step(.start(isOnline: false), at: .zero) == .attempt(timeout: nil))
    }

    @Test func `credentials are refreshed once, whatever the call is, and then it is replayed`() {
        var machine = machine(.mobile, .write)
        #expect(
            machine.step(failed(.authentication), at: .zero) == .refreshCredentials(timeout: nil))
        #expect(
            machine.step(.refreshed(isDone: true), at: .seconds(1))
                == .attempt(timeout: .seconds(10)))
        #expect(machine.step(failed(.authentication), at: .seconds(2)) == .giveUp(.authentication))
        var other = self.machine()
        _ = other.step(failed(.authentication), at: .zero)
        #expect(other.step(.refreshed(isDone: false), at: .zero) == .giveUp(.authentication))
    }

    @Test func `the server's word wins: not before, or never`() {
        var machine = machine()
        #expect(machine.step(failed(hint: .after(.seconds(30))), at: .zero) == .wait(.seconds(30)))
        _ = machine.step(.ready, at: .seconds(30))
        #expect(
            machine.step(failed(), at: .seconds(31)) == .wait(.seconds(30)),
            "from there on it does not go back to less")
        var refused = self.machine()
        #expect(refused.step(failed(hint: .never), at: .zero) == .giveUp(.refused))
    }

    @Test func `a throttled call waits the longest, and no longer than a quota says`() {
        let policy = RetryPolicy(jitter: .none)
        var machine = machine(policy)
        #expect(machine.step(failed(.throttled), at: .zero) == .wait(.seconds(60)))
        machine = self.machine(policy)
        #expect(
            machine.step(failed(.throttled, hint: .after(.seconds(5))), at: .zero)
                == .wait(.seconds(5)))
        machine = self.machine(policy, deadline: .seconds(3_600))
        #expect(
            machine.step(failed(.throttled, hint: .after(.seconds(7_200))), at: .zero)
                == .giveUp(.deadline), "a quota that is reset too late is not waited for")
    }

    @Test func `a budget that is used up ends it`() {
        var machine = machine()
        #expect(machine.step(failed(budgetAllows: false), at: .zero) == .giveUp(.budget))
    }

    @Test func `jitter moves a delay within its bounds`() {
        func delays(_ jitter: RetryPolicy.Jitter, _ dice: Double) -> [Duration] {
            var machine = machine(
                RetryPolicy(
                    maxRetries: 5, initialDelay: .seconds(1), factor: 2,
                    maximumDelay: .seconds(10), jitter: jitter))
            return (0..<5).map { _ in
                guard case .wait(let delay) = machine.step(failed(jitter: dice), at: .zero) else {
                    return .zero
                }
                _ = machine.step(.ready, at: .zero)
                return delay
            }
        }
        #expect(delays(.none, 0.9) == [1, 2, 4, 8, 10].map { .seconds($0) })
        #expect(delays(.full, 0.5) == [0.5, 1, 2, 4, 5].map { .seconds($0) })
        #expect(delays(.equal, 0.5) == [0.75, 1.5, 3, 6, 7.5].map { .seconds($0) })
        #expect(delays(.decorrelated, 0.5) == [2, 3.5, 5.75, 9.125, 10].map { .seconds($0) })
    }

    @Test func `the same dice give the same waits, and others give others`() {
        func delays(_ seed: UInt64, _ policy: RetryPolicy) -> [Duration] {
            var state = seed
            var machine = machine(policy)
            return (0..<policy.maxRetries).compactMap { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let jitter = Double(state >> 11) / Double(1 << 53)
                let step = machine.step(failed(jitter: jitter), at: .zero)
                _ = machine.step(.ready, at: .zero)
                if case .wait(let delay) = step { return delay }
                return nil
            }
        }
        for policy in [RetryPolicy.firestoreRead, .firestoreWrite, RetryPolicy()] {
            #expect(policy.jitter == .full, "clients cut off together come back apart")
            #expect(delays(1, policy) == delays(1, policy))
            #expect(delays(1, policy) != delays(2, policy))
        }
    }

    @Test func `nothing is asked twice at once unless a policy says so`() {
        let policies = [
            RetryPolicy(), .none, .mobile, .firestoreRead, .firestoreWrite,
        ]
        #expect(policies.allSatisfy { $0.hedging == nil })
    }

    @Test func `credit is needed for a retry, and for nothing else`() {
        let fault = Failure(.transient)
        var machine = machine(.mobile, deadline: .seconds(100))
        #expect(machine.wouldRetry(after: fault, jitter: 0.5, at: .zero))
        #expect(!machine.wouldRetry(after: fault, jitter: 0.5, isOnline: false, at: .zero))
        #expect(!machine.wouldRetry(after: fault, jitter: 0.5, at: .seconds(99)), "too late")
        for failure in [
            Failure(.permanent), Failure(.cancelled), Failure(.authentication),
            Failure(.transient, hint: .never), Failure(.throttled, hint: .after(.seconds(100))),
        ] {
            #expect(!machine.wouldRetry(after: failure, jitter: 0.5, at: .zero), "\(failure)")
        }
        #expect(!self.machine(.mobile, .write).wouldRetry(after: fault, jitter: 0.5, at: .zero))
        let before = machine
        #expect(machine == before, "to ask changes nothing")
        for _ in 0..<3 {
            _ = machine.step(failed(), at: .zero)
            _ = machine.step(.ready, at: .zero)
        }
        #expect(!machine.wouldRetry(after: fault, jitter: 0.5, at: .zero), "it was the last one")
    }

    @Test func `history is bounded`() {
        var machine = machine(RetryPolicy(maxRetries: 100, jitter: .none))
        for index in 0..<100 {
            _ = machine.step(failed(), at: .seconds(index))
            _ = machine.step(.ready, at: .seconds(index))
        }
        #expect(machine.attemptsMade == 101)
        #expect(machine.attempts.count == RetryMachine.keptAttempts)
        #expect(machine.attempts.last?.number == 101)
    }
}

struct `The budget of retries` {
    @Test func `is a fifth of the calls, and a few`() {
        var credits = RetryCredits(share: 0.2, floor: 1)
        for _ in 0..<100 { credits.deposit(at: .seconds(5)) }
        let allowed = (0..<100).filter { _ in credits.withdraw(at: .seconds(6)) }.count
        #expect(allowed == 30, "twenty for a hundred calls, ten for ten seconds")
    }

    @Test func `forgets what was ten seconds ago`() {
        var credits = RetryCredits(share: 0.5, floor: 0)
        for _ in 0..<10 { credits.deposit(at: .seconds(1)) }
        let answers = [10, 11].map { credits.withdraw(at: .seconds($0)) }
        #expect(answers == [true, false])
        var spent = RetryCredits(share: 0, floor: 0.1)
        let others = [0, 9, 10].map { spent.withdraw(at: .seconds($0)) }
        #expect(others == [true, false, true])
    }

    @Test func `never allows more than was earned, whenever it is asked`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var credits = RetryCredits(share: 0.2, floor: 0.3)
            var calls: [Int] = []
            var retries: [Int] = []
            var now = 0
            for _ in 0..<200 {
                now += Int.random(in: 0...2, using: &generator)
                if Bool.random(using: &generator) {
                    credits.deposit(at: .seconds(now))
                    calls.append(now)
                } else if credits.withdraw(at: .seconds(now)) {
                    retries.append(now)
                    let recent = { (time: Int) in time > now - 10 }
                    let bound = 0.2 * Double(calls.count(where: recent)) + 3
                    #expect(Double(retries.count(where: recent)) <= bound + 0.000_001)
                }
            }
        }
    }
}

struct `A deadline` {
    @Test func `is the same moment however deep it is handed down`() {
        let deadline = Deadline(in: .seconds(10), from: .seconds(5))
        #expect(deadline.remaining(at: .seconds(12)) == .seconds(3))
        #expect(deadline.remaining(at: .seconds(99)) == .zero)
        #expect(!deadline.isPast(at: .seconds(14)) && deadline.isPast(at: .seconds(15)))
        #expect(min(deadline, Deadline(at: .seconds(7))) == Deadline(at: .seconds(7)))
    }
}
