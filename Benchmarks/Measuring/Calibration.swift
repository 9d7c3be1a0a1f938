import Synchronization

/// The present speed of this machine, measured by loops without our code, in nanoseconds per step.
struct Calibration: Codable, Sendable {
    /// Three shifts and three exclusive ors, each of which depends on the previous result.
    let arithmetic: Double
    /// A read in 64 MiB in an order that no cache predicts. Each read depends on the previous one.
    let memory: Double
    /// A mutex without contention, locked and unlocked.
    let lock: Double
    /// An object, created and released.
    let object: Double
    /// A task that starts on this thread and has ended when its value is awaited.
    let task: Double

    /// The cost of a single-flight call's main parts: six locks, three objects and a task.
    var parts: Double { 6 * lock + 3 * object + task }
    /// The value of ``parts`` on the machine for the bars when nothing else runs. This machine has
    /// a second state, in which locks, objects, tasks and reads of memory take twice as long
    /// (Decisions/0030).
    static let quiet = 320.0

    private static let steps = 2_000_000

    init() async {
        arithmetic = Self.each(Self.steps) { Self.shift(Self.steps) }
        memory = Self.each(200_000) { Self.walk(200_000) }
        lock = Self.each(Self.steps) { Self.locks(Self.steps) }
        object = Self.each(Self.steps) { Self.objects(Self.steps) }
        let tasks = 50_000
        task = await time { await Self.tasks(tasks) } * 1e3 / Double(tasks)
    }

    private static func each(_ steps: Int, _ body: () -> Int) -> Double {
        var result = 0
        let taken = time { result = body() }
        precondition(result != 0)
        return taken * 1e3 / Double(steps)
    }

    private static func shift(_ steps: Int) -> Int {
        var value: UInt64 = 88_172_645_463_325_252
        for _ in 0..<steps {
            value ^= value << 13
            value ^= value >> 7
            value ^= value << 17
        }
        return Int(truncatingIfNeeded: value | 1)
    }

    /// A cycle through all places of 64 bytes.
    private static let circle: [UInt32] = {
        let places = 1 << 20
        var order = Array(0..<places)
        var draws = SystemRandomNumberGenerator()
        order.shuffle(using: &draws)
        var next = [UInt32](repeating: 0, count: places * 16)
        for (index, place) in order.enumerated() {
            next[place * 16] = UInt32(order[(index + 1) % places] * 16)
        }
        return next
    }()

    private static func walk(_ steps: Int) -> Int {
        circle.withUnsafeBufferPointer { next in
            var place = Int.random(in: 0..<(1 << 20)) * 16
            for _ in 0..<steps { place = Int(next[place]) }
            return place + 1
        }
    }

    private static let counter = Mutex(0)

    private static func locks(_ steps: Int) -> Int {
        for _ in 0..<steps { counter.withLock { $0 &+= 1 } }
        return counter.withLock { $0 }
    }

    private final class Object {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    /// Makes an object that is not kept. The compiler cannot see this, because the function is not
    /// inlined.
    @inline(never) private static func object(_ number: Int) -> Object { Object(number) }

    private static func objects(_ steps: Int) -> Int {
        var sum = 1
        for number in 0..<steps { sum &+= object(number).number & 1 }
        return sum
    }

    private static func tasks(_ count: Int) async {
        for _ in 0..<count { await Task.immediate {}.value }
    }
}
