/// The priority of a picture.
public enum PicturePriority: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// The picture is needed later, if at all. At most a third of the downloads have this priority.
    case prefetch
    /// The picture is just outside the screen.
    case nearby
    /// The picture is on the screen.
    case visible

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The bounds of concurrent work.
public struct PictureTraffic: Hashable, Sendable {
    /// The number of downloads at the same time.
    public var downloads: Int
    /// The maximum number of these downloads that are prefetches.
    public var prefetches: Int
    /// The number of decodes at the same time.
    public var decodes: Int
    /// The bound of all decodes together, in bytes. A larger decode runs alone.
    public var decodeBytes: Int
    /// The maximum number of waiting jobs. Beyond it, jobs with the lowest priority are refused.
    public var waiting: Int

    /// - Precondition: All values are positive, and `prefetches` is at most `downloads`.
    public init(
        downloads: Int = 6, prefetches: Int = 2, decodes: Int = 2, decodeBytes: Int = 48 << 20,
        waiting: Int = 4_096
    ) {
        precondition(downloads > 0 && decodes > 0 && decodeBytes > 0 && waiting > 0)
        precondition((1...downloads).contains(prefetches))
        self.downloads = downloads
        self.prefetches = prefetches
        self.decodes = decodes
        self.decodeBytes = decodeBytes
        self.waiting = waiting
    }
}

/// Decides which job runs next, from the callers that want each picture and their priorities. Pure.
///
/// The priority of a job is the highest priority of the callers that want its picture at this
/// moment, and not at the time of the request.
struct Traffic {
    enum Kind: Int, Hashable, Sendable, CaseIterable { case download, decode }

    struct Job: Hashable, Sendable {
        let number: Int
        let kind: Kind
        let id: PictureID
        /// The memory of a decode, in bytes.
        var bytes = 0
    }

    enum Event: Hashable, Sendable {
        case joined(PictureID, PicturePriority)
        case left(PictureID, PicturePriority)
        case queued(Job)
        /// No caller wants the job's result.
        case withdrawn(Int)
        case ended(Int)
    }

    enum Effect: Hashable, Sendable {
        case start(Int)
        case refuse(Int)
    }

    private struct Waiting {
        let job: Job
        var priority: PicturePriority
    }

    /// A queue of job numbers. A number whose job was removed, or has another priority now, is
    /// skipped when its turn comes.
    private struct Line {
        var numbers: [Int] = []
        var first = 0
    }

    let limits: PictureTraffic
    private var wanted: [PictureID: [Int]] = [:]
    private var waiting: [Int: Waiting] = [:]
    private var waitingOf: [PictureID: Set<Int>] = [:]
    private var lines: [[Line]]
    private var running: [Int: (job: Job, isPrefetch: Bool)] = [:]

    init(_ limits: PictureTraffic) {
        self.limits = limits
        let priorities = PicturePriority.allCases.map { _ in Line() }
        lines = Kind.allCases.map { _ in priorities }
    }

    var waitingCount: Int { waiting.count }
    var runningCount: Int { running.count }
    /// The number of pictures that a caller wants.
    var wantedCount: Int { wanted.count }

    func isWanted(_ id: PictureID) -> Bool { wanted[id] != nil }

    /// Returns the highest priority among the callers that want the picture; prefetch if there are
    /// none.
    func priority(_ id: PictureID) -> PicturePriority {
        guard let counts = wanted[id] else { return .prefetch }
        return PicturePriority.allCases.last { counts[$0.rawValue] > 0 } ?? .prefetch
    }

    mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .joined(let id, let priority): want(id, priority, by: 1)
        case .left(let id, let priority): want(id, priority, by: -1)
        case .queued(let job):
            precondition(waiting[job.number] == nil && running[job.number] == nil)
            waiting[job.number] = Waiting(job: job, priority: priority(job.id))
            waitingOf[job.id, default: []].insert(job.number)
            line(job.number)
            if waiting.count > limits.waiting { return refuseOne() + start() }
        case .withdrawn(let number): forget(number)
        case .ended(let number):
            precondition(running[number] != nil, "a job ends once")
            running[number] = nil
        }
        return start()
    }

    private mutating func want(_ id: PictureID, _ priority: PicturePriority, by change: Int) {
        var counts = wanted[id] ?? PicturePriority.allCases.map { _ in 0 }
        counts[priority.rawValue] += change
        precondition(counts[priority.rawValue] >= 0, "who leaves has come")
        wanted[id] = counts.contains { $0 > 0 } ? counts : nil
        let urgent = self.priority(id)
        for number in (waitingOf[id] ?? []).sorted() where waiting[number]?.priority != urgent {
            waiting[number]?.priority = urgent
            line(number)
        }
    }

    private mutating func line(_ number: Int) {
        guard let one = waiting[number] else { return }
        let (kind, priority) = (one.job.kind.rawValue, one.priority.rawValue)
        lines[kind][priority].numbers.append(number)
        // Repeated changes of priority must not grow the queue without bound.
        if lines[kind][priority].numbers.count > 2 * waiting.count + 16 {
            let valid = valid(kind, priority)
            lines[kind][priority] = Line(numbers: valid)
        }
    }

    private func valid(_ kind: Int, _ priority: Int) -> [Int] {
        let line = lines[kind][priority]
        var seen: Set<Int> = []
        return line.numbers[line.first...].filter {
            isValid($0, kind: kind, priority: priority) && seen.insert($0).inserted
        }
    }

    private func isValid(_ number: Int, kind: Int, priority: Int) -> Bool {
        guard let one = waiting[number] else { return false }
        return one.job.kind.rawValue == kind && one.priority.rawValue == priority
    }

    private mutating func forget(_ number: Int) {
        guard let one = waiting.removeValue(forKey: number) else { return }
        waitingOf[one.job.id]?.remove(number)
        if waitingOf[one.job.id]?.isEmpty == true { waitingOf[one.job.id] = nil }
    }

    /// Refuses the job with the lowest priority. Among equal jobs this is the newest, which has
    /// waited the shortest time.
    private mutating func refuseOne() -> [Effect] {
        let worst = waiting.max {
            ($1.value.priority.rawValue, $0.key) < ($0.value.priority.rawValue, $1.key)
        }
        guard let worst else { return [] }
        forget(worst.key)
        return [.refuse(worst.key)]
    }

    private mutating func start() -> [Effect] {
        var effects: [Effect] = []
        for kind in Kind.allCases {
            while let number = next(kind) {
                guard let one = waiting[number] else { break }
                forget(number)
                running[number] = (one.job, one.priority == .prefetch)
                effects.append(.start(number))
            }
        }
        return effects
    }

    /// Returns the next job if there is room for it. The jobs behind it wait too: otherwise a large
    /// job would never run.
    private mutating func next(_ kind: Kind) -> Int? {
        for priority in PicturePriority.allCases.reversed() {
            guard let number = head(kind, priority), let one = waiting[number] else { continue }
            return hasRoom(one) ? number : nil
        }
        return nil
    }

    private mutating func head(_ kind: Kind, _ priority: PicturePriority) -> Int? {
        let (kind, priority) = (kind.rawValue, priority.rawValue)
        while lines[kind][priority].first < lines[kind][priority].numbers.count {
            let line = lines[kind][priority]
            let number = line.numbers[line.first]
            if isValid(number, kind: kind, priority: priority) { return number }
            lines[kind][priority].first += 1
        }
        lines[kind][priority] = Line()
        return nil
    }

    private func hasRoom(_ one: Waiting) -> Bool {
        let same = running.values.filter { $0.job.kind == one.job.kind }
        switch one.job.kind {
        case .download:
            if same.count >= limits.downloads { return false }
            return one.priority != .prefetch
                || same.count(where: \.isPrefetch) < limits.prefetches
        case .decode:
            if same.isEmpty { return true }
            let held = same.reduce(0) { $0 + $1.job.bytes }
            return same.count < limits.decodes && held + one.job.bytes <= limits.decodeBytes
        }
    }
}
