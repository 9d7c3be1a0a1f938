@testable import TidemarkFiles

/// Plays one upload against ``ModelStorage``, with faults, kills, jumps of the clock and changes of
/// the local copy, and checks what may never happen.
struct UploadHistory {
    enum Outcome: Hashable {
        case finished
        case failed(UploadProblem)
    }

    private(set) var violations: [String] = []
    private(set) var outcome: Outcome?
    private(set) var steps = 0
    private(set) var kills = 0
    private(set) var faults = 0
    private(set) var jumps = 0
    private(set) var storage: ModelStorage
    let target: UploadTarget

    private var dice: ModelDice
    private let habits: ModelHabits
    private var now: Int64 = 1_790_000_000
    private var elapsed = Duration.zero
    private var stored = UploadRecord()
    private var machine: UploadMachine
    private var shown: Int64 = 0
    /// True if the machine cannot know where its session stands.
    private var isUnsure = false
    /// The version of the local copy: 1 at first; nil if the copy is missing.
    private var version: Int? = 1
    /// All versions that the copy has had.
    private var versions: Set<Int?> = [1]
    private let mayLoseCopy: Bool
    private let faultRate: Double
    private let killRate: Double
    #if TIDEMARK_DEFECTS
        private let defects: UploadDefects
    #endif

    /// The number of steps with faults. Afterwards, nothing fails, and the upload must end.
    static let troubledSteps = 60
    static let calmSteps = 4_000

    #if TIDEMARK_DEFECTS
        init(seed: UInt64, defects: UploadDefects = []) {
            self.init(seed, defects)
        }
    #else
        init(seed: UInt64) { self.init(seed, ()) }
    #endif

    #if TIDEMARK_DEFECTS
        private typealias Planted = UploadDefects
    #else
        private typealias Planted = Void
    #endif

    private init(_ seed: UInt64, _ planted: Planted) {
        var dice = ModelDice(seed)
        let unit = 262_144
        let size = Int64(
            dice.pick([
                0, 1, unit - 1, unit, unit + 1, 3 * unit, 5 * unit + 17, dice.below(40 * unit),
            ]))
        let deniesOverwriting = dice.happens(0.3)
        habits = ModelHabits(
            ignoresOffsets: dice.happens(0.2), deniesOverwriting: deniesOverwriting,
            deniesReads: !deniesOverwriting && dice.happens(0.2),
            describesFinal: dice.happens(0.5), reportsReceived: dice.happens(0.7),
            forgetsFinal: dice.happens(0.2))
        storage = ModelStorage(habits)
        target = UploadTarget(
            bucket: "b", name: "photos/1", size: size,
            md5: ModelBytes.whole(1, size: size).digest, contentType: "image/jpeg")
        mayLoseCopy = dice.happens(0.1)
        faultRate = dice.pick([0, 0.1, 0.3, 0.6])
        killRate = dice.pick([0, 0.05, 0.2])
        machine = UploadMachine(target)
        self.dice = dice
        #if TIDEMARK_DEFECTS
            defects = planted
            machine.defects = planted
        #endif
    }

    private var isTroubled: Bool { steps < Self.troubledSteps }

    mutating func play() {
        var event = UploadMachine.Event.begin
        while outcome == nil, steps < Self.troubledSteps + Self.calmSteps {
            steps += 1
            let moment = UploadMachine.Moment(
                now: now, elapsed: elapsed, jitter: dice.fraction())
            event = perform(machine.step(event, at: moment))
        }
        check()
    }

    /// Performs the effects of a step, and returns the next event. A kill can happen before each.
    private mutating func perform(_ effects: [UploadMachine.Effect]) -> UploadMachine.Event {
        var next: UploadMachine.Event?
        for effect in effects {
            if isTroubled, dice.happens(killRate) { return kill() }
            if next != nil { violations.append("\(effect) follows an effect with an answer") }
            next = perform(effect)
            if outcome != nil { return .ready }
        }
        if isTroubled, dice.happens(killRate) { return kill() }
        guard let next else {
            violations.append("\(effects) lead to nothing")
            outcome = .failed(.damagedOnTheWay)
            return .ready
        }
        return next
    }

    private mutating func perform(_ effect: UploadMachine.Effect) -> UploadMachine.Event? {
        switch effect {
        case .store(let record):
            stored = record
            return nil
        case .progress(let bytes):
            if bytes < shown { violations.append("progress ran back: \(shown) to \(bytes)") }
            if bytes > target.size { violations.append("progress beyond the end: \(bytes)") }
            shown = max(shown, bytes)
            return nil
        case .cancel: return nil
        case .checkCopy:
            changeCopy()
            // A copy with other bytes has the same size.
            return .copy(version == nil ? .missing : .same)
        case .compareCopy:
            // The comparison has read the copy before it changes.
            let compared = version
            changeCopy()
            return .copy(compared == 1 ? .same : compared == nil ? .missing : .changed)
        case .send(let request): return send(request)
        case .refreshToken: return .refreshed(isDone: dice.happens(0.8))
        case .wait(let delay):
            if delay < .zero { violations.append("a negative wait") }
            pass(delay)
            return .ready
        case .finished(let object):
            outcome = .finished
            if object.size != target.size || object.md5 != target.md5 {
                violations.append("another object was reported: \(object)")
            }
            if storage.object != ModelBytes.whole(1, size: target.size) {
                violations.append("finished without its object: \(describedObject)")
            }
            return nil
        case .failed(let problem):
            outcome = .failed(problem)
            return nil
        }
    }

    private mutating func send(_ request: UploadMachine.Request) -> UploadMachine.Event {
        pass(.milliseconds(dice.below(5_000)))
        var part: ModelPart?
        if case .chunk(_, let offset, let length, _) = request {
            changeCopy()
            guard let version else { return .copy(.missing) }
            part = ModelPart(version: version, range: offset..<(offset + Int64(length)))
            if isUnsure { violations.append("a chunk was sent blindly at \(offset)") }
        }
        var fault: ModelFault?
        if isTroubled, dice.happens(faultRate) {
            fault = dice.pick(ModelFault.allCases)
            faults += 1
        }
        let answer = storage.answer(
            request, part: part, size: target.size, now: now, fault, &dice)
        switch request {
        case .chunk: isUnsure = answer?.isSuccess != true
        case .start, .query: isUnsure = answer?.isSuccess != true && isUnsure
        case .look, .remove: break
        }
        return answer.map { .answer($0) } ?? .broke
    }

    private mutating func changeCopy() {
        guard mayLoseCopy, isTroubled, dice.happens(0.05) else { return }
        version = dice.happens(0.5) ? nil : 2
        versions.insert(version)
    }

    private mutating func pass(_ time: Duration) {
        elapsed += time
        now += time.components.seconds + 1
        // The clock jumps, or the app is not started for days.
        if isTroubled, dice.happens(0.03) {
            jumps += 1
            now += Int64(dice.below(9 * 86_400)) - 86_400
        }
    }

    private mutating func kill() -> UploadMachine.Event {
        kills += 1
        isUnsure = true
        machine = UploadMachine(target, stored)
        #if TIDEMARK_DEFECTS
            machine.defects = defects
        #endif
        return .begin
    }

    private var describedObject: String { storage.object?.digest ?? "none" }

    private mutating func check() {
        switch outcome {
        case nil: violations.append("the upload has no end")
        case .finished: break
        case .failed(let problem):
            let isHonest =
                switch problem {
                case .copyMissing: versions.contains(nil)
                case .copyChanged: versions.contains(2)
                default: false
                }
            if !isHonest { violations.append("failed with \(problem), copy \(version ?? 0)") }
        }
        // Who may not read an object can neither verify nor safely delete it.
        if let object = storage.object, object != ModelBytes.whole(1, size: target.size),
            outcome == .finished || !habits.deniesReads
        {
            violations.append("a wrong object stays: \(describedObject)")
        }
        if faults + kills + jumps == 0, !mayLoseCopy, storage.bytesReceived != target.size {
            violations.append("\(storage.bytesReceived) bytes were sent for \(target.size)")
        }
    }
}
