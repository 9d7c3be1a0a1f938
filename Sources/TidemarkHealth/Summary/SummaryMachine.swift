/// Decides when a summary is read again: immediately the first time, then only for changed values,
/// and at most once in half a second, independent of the number of changes.
struct SummaryMachine: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case opened
        /// The store reports a change after a commit.
        case changed(Set<HealthKind>)
        case timerFired
        case readEnded
        /// The moment is in another hour or on another day.
        case momentMoved
    }

    enum Effect: Equatable, Sendable {
        /// Mark these as out of date.
        case markStale(Set<HealthSummary.Item>)
        case startTimer
        case read(Set<HealthSummary.Item>)
    }

    /// The time from the first change until the changed values are read.
    static let pause = Duration.milliseconds(500)

    private var dirty: Set<HealthSummary.Item> = []
    private var isOpen = false
    private var isReading = false
    private var isTimerRunning = false

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .opened:
            if isOpen { return [] }
            isOpen = true
            isReading = true
            return [.read(Set(HealthSummary.Item.allCases))]
        case .changed(let kinds): return change(HealthSummary.Item.showing(kinds))
        case .momentMoved: return change([.stepsToday, .heartRateHours, .stepsHours])
        case .timerFired:
            isTimerRunning = false
            return readDirty()
        case .readEnded:
            precondition(isReading, "a read that was not asked for has ended")
            isReading = false
            // Changes during the read wait for their timer, unless it has fired already.
            return isTimerRunning ? [] : readDirty()
        }
    }

    /// Returns true if the value has changed since its last read began.
    func isOutOfDate(_ item: HealthSummary.Item) -> Bool { dirty.contains(item) }

    private mutating func change(_ items: Set<HealthSummary.Item>) -> [Effect] {
        guard isOpen, !items.isEmpty else { return [] }
        dirty.formUnion(items)
        if isTimerRunning { return [.markStale(items)] }
        isTimerRunning = true
        return [.markStale(items), .startTimer]
    }

    private mutating func readDirty() -> [Effect] {
        guard !isReading, !dirty.isEmpty else { return [] }
        let items = dirty
        dirty = []
        isReading = true
        return [.read(items)]
    }
}
