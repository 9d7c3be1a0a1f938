import Synchronization

/// How many of a process's calls to one backend may be retries: a fifth, and a few more a second, so
/// that a server in trouble is not asked several times as much as it was asked before.
///
/// Credits live for ten seconds. Sources of the model and of its share: resilience 3 (Finagle); the
/// floor is sized for one device.
public struct RetryCredits: Hashable, Sendable {
    /// Of the calls, how many may be tried again.
    public let share: Double
    /// Retries a second that need no calls to be earned by.
    public let floor: Double
    /// For how many seconds a call earns.
    public static let lifetime = 10

    /// Calls and retries of the last seconds, by the second; the oldest is written over.
    private var seconds = [Int64](repeating: -1, count: lifetime)
    private var earned = [Double](repeating: 0, count: lifetime)
    private var spent = [Double](repeating: 0, count: lifetime)

    /// - Precondition: `share` and `floor` are not negative.
    public init(share: Double = 0.2, floor: Double = 1) {
        precondition(share >= 0 && floor >= 0)
        self.share = share
        self.floor = floor
    }

    /// Notes a first attempt.
    public mutating func deposit(at now: Duration) { earned[slot(now)] += share }

    /// - Returns: Whether one more retry is allowed; then it is counted.
    public mutating func withdraw(at now: Duration) -> Bool {
        let slot = slot(now)
        let second = now.components.seconds
        var balance = floor * Double(Self.lifetime)
        for index in 0..<Self.lifetime
        where seconds[index] > second - Int64(Self.lifetime) && seconds[index] <= second {
            balance += earned[index] - spent[index]
        }
        // Fifths do not add up to whole numbers exactly.
        if balance < 1 - 1e-6 { return false }
        spent[slot] += 1
        return true
    }

    private mutating func slot(_ now: Duration) -> Int {
        let second = now.components.seconds
        let slot = Int(second.magnitude % UInt64(Self.lifetime))
        if seconds[slot] != second { (seconds[slot], earned[slot], spent[slot]) = (second, 0, 0) }
        return slot
    }
}

/// ``RetryCredits`` that a process's calls share. Thread-safe.
public final class RetryBudget: Sendable {
    private let credits: Mutex<RetryCredits>
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - credits: How many retries are allowed for so many calls.
    ///   - uptime: The time since some moment, for instance since the process began.
    public init(
        _ credits: RetryCredits = RetryCredits(), uptime: @escaping @Sendable () -> Duration
    ) {
        self.credits = Mutex(credits)
        self.uptime = uptime
    }

    /// On the system's clock, which stands still while the device sleeps.
    public convenience init(_ credits: RetryCredits = RetryCredits()) {
        let start = SuspendingClock.now
        self.init(credits) { start.duration(to: .now) }
    }

    func deposit() { credits.withLock { $0.deposit(at: uptime()) } }
    func withdraw() -> Bool { credits.withLock { $0.withdraw(at: uptime()) } }
}
