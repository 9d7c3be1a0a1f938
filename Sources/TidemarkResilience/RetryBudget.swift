import Synchronization

/// Limits the share of retries among a process's calls to one backend: a fifth, plus a few per
/// second. Without a limit, a server in trouble would receive several times its usual load.
///
/// Credits last ten seconds. Source of the model and of the share: resilience 3 (Finagle). The
/// floor suits one device.
public struct RetryCredits: Hashable, Sendable {
    /// The fraction of calls that may be retried.
    public let share: Double
    /// The number of retries per second that are allowed without earned credits.
    public let floor: Double
    /// The time for which a call's credit lasts, in seconds.
    public static let lifetime = 10

    /// Credits and retries of the last seconds, one slot per second. The oldest slot is
    /// overwritten.
    private var seconds = [Int64](repeating: -1, count: lifetime)
    private var earned = [Double](repeating: 0, count: lifetime)
    private var spent = [Double](repeating: 0, count: lifetime)

    /// - Precondition: `share` and `floor` are not negative.
    public init(share: Double = 0.2, floor: Double = 1) {
        precondition(share >= 0 && floor >= 0)
        self.share = share
        self.floor = floor
    }

    /// Counts a first attempt.
    public mutating func deposit(at now: Duration) { earned[slot(now)] += share }

    /// Counts a retry if the budget allows it.
    ///
    /// - Returns: True if the retry is allowed.
    public mutating func withdraw(at now: Duration) -> Bool {
        let slot = slot(now)
        let second = now.components.seconds
        var balance = floor * Double(Self.lifetime)
        for index in 0..<Self.lifetime
        where seconds[index] > second - Int64(Self.lifetime) && seconds[index] <= second {
            balance += earned[index] - spent[index]
        }
        // Sums of fifths are not exactly whole numbers.
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

/// A ``RetryCredits`` that the calls of a process share. Thread-safe.
public final class RetryBudget: Sendable {
    private let credits: Mutex<RetryCredits>
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - credits: The ratio of retries to calls.
    ///   - uptime: Returns the time since a fixed moment, for example since the process began.
    public init(
        _ credits: RetryCredits = RetryCredits(), uptime: @escaping @Sendable () -> Duration
    ) {
        self.credits = Mutex(credits)
        self.uptime = uptime
    }

    /// Uses the system's clock that stops while the device sleeps.
    public convenience init(_ credits: RetryCredits = RetryCredits()) {
        let start = SuspendingClock.now
        self.init(credits) { start.duration(to: .now) }
    }

    func deposit() { credits.withLock { $0.deposit(at: uptime()) } }
    func withdraw() -> Bool { credits.withLock { $0.withdraw(at: uptime()) } }
}
