public import Tidemark

/// Brings contexts up to date shortly before their user usually opens them, by a ``PrefetchPredictor``.
///
/// Off unless ``isEnabled`` is set. It only does early what opening does anyway: whatever is predicted or
/// not, a context that is opened is read as without it, and shows the same.
public actor Prefetcher {
    /// Warmings in 24 hours; beyond, predictions are let pass.
    public static let maxPerDay = 48

    /// Whether anything is warmed. Openings are noted in either case.
    public private(set) var isEnabled = false
    public private(set) var predictor: PrefetchPredictor
    /// When contexts were warmed in the last 24 hours, ascending.
    public private(set) var warmed: [PrefetchPredictor.Warming] = []
    /// What the warmings were worth, since it was made.
    public private(set) var ledger = PrefetchLedger()

    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let warm: @Sendable (_ context: String) async -> Void
    private var running: Task<Void, Never>?
    /// Those under way: two for a moment, where it was turned off and on meanwhile.
    private var underWay = 0
    /// Warmings up to this time have begun, or were let pass.
    private var reached: Timestamp

    /// - Parameters:
    ///   - predictor: With what was noted before; it is the app's to keep.
    ///   - clock: What waits for the next warming.
    ///   - now: The device's time.
    ///   - warm: Brings a context up to date: mostly ``Feed/sync()``. What it reads is counted for
    ///     ``label``, so that the meter shows what predictions cost.
    public init(
        _ predictor: PrefetchPredictor, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp() },
        warm: @escaping @Sendable (_ context: String) async -> Void
    ) {
        self.predictor = predictor
        self.clock = clock
        self.now = now
        self.warm = warm
        reached = now()
    }

    deinit { running?.cancel() }

    /// Under which the reads of a prefetch are counted.
    public static let label = "prefetch"

    public func setEnabled(_ isEnabled: Bool) {
        if isEnabled, !self.isEnabled { reached = now() }
        self.isEnabled = isEnabled
        plan()
    }

    /// Takes note that the user opened a context.
    public func opened(_ context: String) {
        let now = now()
        predictor.opened(context, at: now)
        ledger.opened(context, at: now)
        plan()
    }

    /// Waits for the next warming; what it waited for before is forgotten. A warming that has begun goes on,
    /// unless the prefetcher is off.
    private func plan() {
        if isEnabled, underWay > 0, running != nil { return }
        running?.cancel()
        running = nil
        guard isEnabled else { return }
        running = Task { [weak self, clock] in
            while !Task.isCancelled, let wait = await self?.wait() {
                do { try await clock.sleep(for: wait.duration) } catch { return }
                for warming in wait.warmings { await self?.begin(warming) }
            }
        }
    }

    /// The next warmings, all for one time. Those that came due while others were under way are for now,
    /// as long as their user is not there yet.
    private func wait() -> (duration: Duration, warmings: [PrefetchPredictor.Warming])? {
        let now = now()
        // The device's clock was set back.
        if reached > now.advanced(by: .seconds(3_600)) { reached = now }
        let start = max(reached, now.advanced(by: .zero - predictor.lead))
        let all = predictor.warmings(after: start, within: .seconds(8 * 86_400))
        guard let next = all.first else { return nil }
        return (max(.zero, next.at.duration(since: now)), all.filter { $0.at == next.at })
    }

    private func begin(_ warming: PrefetchPredictor.Warming) async {
        guard isEnabled, !Task.isCancelled else { return }
        reached = max(reached, warming.at)
        let yesterday = now().advanced(by: .seconds(-86_400))
        warmed.removeAll { $0.at <= yesterday }
        guard warmed.count < Self.maxPerDay else { return }
        warmed.append(warming)
        ledger.warmed(warming.context, at: now())
        underWay += 1
        await ReadTag.with(label: Self.label) { await warm(warming.context) }
        underWay -= 1
    }
}
