public import Tidemark

/// Updates contexts shortly before their user usually opens them, by a ``PrefetchPredictor``.
///
/// The prefetcher is off unless ``isEnabled`` is true. It only reads earlier: an opened context
/// reads and shows the same with and without a prediction.
public actor Prefetcher {
    /// The maximum number of warmings in 24 hours; later predictions are skipped.
    public static let maxPerDay = 48

    /// True if contexts are warmed. Openings are always recorded.
    public private(set) var isEnabled = false
    public private(set) var predictor: PrefetchPredictor
    /// The warmings of the last 24 hours, ascending.
    public private(set) var warmed: [PrefetchPredictor.Warming] = []
    /// The value of the warmings, since the prefetcher was created.
    public private(set) var ledger = PrefetchLedger()

    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let warm: @Sendable (_ context: String) async -> Void
    private var running: Task<Void, Never>?
    /// The number of running warming tasks. There are two for a moment if the prefetcher was turned
    /// off and on.
    private var underWay = 0
    /// The time up to which warmings have begun, or were skipped.
    private var reached: Timestamp

    /// - Parameters:
    ///   - predictor: The predictor with the earlier openings; the app stores it.
    ///   - clock: The clock that waits for the next warming.
    ///   - now: Returns the device's time.
    ///   - warm: Updates a context, usually with ``Feed/sync()``. Its reads are counted for
    ///     ``label``, so the meter shows the cost of predictions.
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

    /// The label under which the reads of a prefetch are counted.
    public static let label = "prefetch"

    public func setEnabled(_ isEnabled: Bool) {
        if isEnabled, !self.isEnabled { reached = now() }
        self.isEnabled = isEnabled
        plan()
    }

    /// Records that the user opened a context.
    public func opened(_ context: String) {
        let now = now()
        predictor.opened(context, at: now)
        ledger.opened(context, at: now)
        plan()
    }

    /// Waits for the next warming instead of an earlier wait. A running warming continues, unless
    /// the prefetcher is off.
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

    /// Returns the next warmings, all for a single time. Warmings that became due during others run
    /// now, as long as their user is not there yet.
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
