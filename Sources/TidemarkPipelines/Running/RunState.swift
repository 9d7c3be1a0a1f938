package import TidemarkModel
import TidemarkPatterns

/// The surroundings of a run.
package struct PipelineContext: Sendable {
    package let database: DatabaseID
    /// The value of `current_timestamp` in the whole run.
    package let now: Timestamp
    /// The seed of `rand`, of `sample`, and of the ids of inserted documents.
    package let seed: UInt64
    package let limits: PipelineLimits
    /// Returns the reason to stop, for example a cancelled call. A run asks at every 256 steps.
    package let interruption: @Sendable () -> PipelineError?
    /// Returns the time since any fixed moment, to measure each stage; nil measures nothing.
    package let ticks: (@Sendable () -> Duration)?
    /// The fields that a search looks at, by the id of collections. Other collections are searched
    /// in all their texts.
    package let searchedFields: [ByteString: [FieldPath]]
    /// True on a device, where a search knows the beginnings of words.
    package let isOnDevice: Bool

    package init(
        database: DatabaseID, now: Timestamp, seed: UInt64, limits: PipelineLimits = .production,
        searchedFields: [ByteString: [FieldPath]] = [:], isOnDevice: Bool = false,
        ticks: (@Sendable () -> Duration)? = nil,
        interruption: @escaping @Sendable () -> PipelineError? = { nil }
    ) {
        self.database = database
        self.now = now
        self.seed = seed
        self.limits = limits
        self.ticks = ticks
        self.searchedFields = searchedFields
        self.isOnDevice = isOnDevice
        self.interruption = interruption
    }
}

/// The state that the stages and expressions of a run share.
///
/// A run belongs to one owner and is synchronous, so this class needs no lock.
final class RunState {
    /// The number of steps after which a run asks whether it must end.
    private static let interval = 256

    let context: PipelineContext
    let source: any PipelineSource
    var random: SeededRandom
    private(set) var memory: MemoryLedger
    private(set) var documentsRead = 0
    private(set) var bytesRead = 0
    /// The read units of documents that were read by their names.
    private var namedUnits = 0
    /// The bytes of documents that were scanned.
    private var scannedBytes = 0
    private var patterns: [ByteString: Result<Pattern, InvalidPattern>] = [:]
    private var queries: [ByteString: SearchQuery] = [:]
    private var steps = 0
    /// The number of steps at which the run asks next whether it must end.
    private var nextCheck = RunState.interval
    /// The reason why the run must end, found where nothing can be thrown.
    private(set) var interruption: PipelineError?

    init(source: any PipelineSource, context: PipelineContext) {
        self.source = source
        self.context = context
        random = SeededRandom(seed: context.seed)
        memory = MemoryLedger(bound: context.limits.bytes)
    }

    /// Returns a number of at least 0 and less than 1.
    func nextFraction() -> Double { Double(random.next() >> 11) * 0x1p-53 }

    /// Returns a random id of 20 letters and digits.
    func nextID() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let bytes = (0..<20).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The billed units of the Enterprise edition: one for each 4 KiB that is scanned, and at least
    /// one for each document that is read by its name.
    var readUnits: Int {
        namedUnits
            + (scannedBytes > 0 || namedUnits == 0 ? UnitBilling.scan(bytes: scannedBytes) : 0)
    }

    /// Counts a document that the source returned.
    ///
    /// - Parameter isNamed: True if the document was read by its name, and not by a scan.
    func read(_ document: Document, isNamed: Bool) {
        let size = document.contents.bytes.count + document.path.text.utf8.count
        documentsRead += 1
        bytesRead += size
        if isNamed {
            namedUnits += UnitBilling.pointRead(bytes: size)
        } else {
            scannedBytes += max(UnitBilling.leastScannedBytes, size)
        }
    }

    /// Counts a step of the run.
    ///
    /// - Throws: ``PipelineError`` if the run must end.
    func step() throws(PipelineError) {
        if !count() { try checkEnd() }
    }

    /// - Throws: ``PipelineError`` if the run must end.
    func checkEnd() throws(PipelineError) { if let interruption { throw interruption } }

    /// Counts a step where nothing can be thrown.
    ///
    /// - Returns: False if the run must end. ``checkEnd()`` throws the reason.
    func count() -> Bool {
        steps += 1
        if interruption != nil { return false }
        return steps < nextCheck ? true : check()
    }

    /// Counts the steps of a function that takes long.
    ///
    /// - Returns: False if the run must end.
    func count(steps more: Int) -> Bool {
        steps += more
        return count()
    }

    /// Counts the steps of a regular expression, of which sixteen take about as long as one of the
    /// run. The run's next step finds out whether the run must end.
    func count(patternSteps: Int) { steps += patternSteps / 16 }

    private func check() -> Bool {
        nextCheck = steps + Self.interval
        interruption = context.interruption()
        if steps > context.limits.steps {
            interruption = PipelineError(
                .resourceExhausted,
                "The pipeline needs more than \(context.limits.steps) steps.")
        }
        return interruption == nil
    }

    /// Ends the run at its next step.
    func interrupt(_ error: PipelineError) { if interruption == nil { interruption = error } }

    fileprivate func reserve(_ bytes: Int, for stage: String) throws(PipelineError) {
        try memory.reserve(bytes, for: stage)
    }

    fileprivate func release(_ bytes: Int) { memory.release(bytes) }

    /// Returns the query of a search's text. Keeps the 100 first queries.
    func query(_ text: String) throws(PipelineError) -> SearchQuery {
        if let known = queries[ByteString(text)] { return known }
        let query = try SearchQuery(text, allowsPrefixes: context.isOnDevice)
        if queries.count < 100 { queries[ByteString(text)] = query }
        return query
    }

    /// Returns the words of a document for searches.
    func words(of row: PipelineRow) -> DocumentWords {
        let id = context.searchedFields.isEmpty ? nil : row.name?.path.collectionID
        return DocumentWords(row.fields, in: id.flatMap { context.searchedFields[ByteString($0)] })
    }

    /// Returns a compiled pattern. Keeps the 100 first patterns, so a pattern in a field does not
    /// fill the memory.
    func pattern(_ text: String, in function: String) throws(Fault) -> Pattern {
        let result =
            patterns[ByteString(text)] ?? Result { () throws(InvalidPattern) in try Pattern(text) }
        if patterns.count < 100 { patterns[ByteString(text)] = result }
        do throws(InvalidPattern) { return try result.get() } catch {
            throw Fault("\(function): invalid regular expression: \(error.message).")
        }
    }
}

/// The memory that one stage holds. Its end releases the memory.
final class Reservation {
    private let run: RunState
    private let stage: String
    private(set) var bytes = 0

    init(_ run: RunState, stage: String) { (self.run, self.stage) = (run, stage) }

    deinit { run.release(bytes) }

    /// Reserves memory.
    ///
    /// - Throws: ``PipelineError`` of code `resourceExhausted` if the run would hold too much.
    func add(_ bytes: Int) throws(PipelineError) {
        self.bytes += bytes
        try run.reserve(bytes, for: stage)
    }

    func remove(_ bytes: Int) {
        precondition(bytes <= self.bytes)
        self.bytes -= bytes
        run.release(bytes)
    }
}

/// The bytes that the stages of a run hold.
struct MemoryLedger {
    let bound: Int
    private(set) var held = 0
    private(set) var most = 0

    init(bound: Int) { self.bound = bound }

    mutating func reserve(_ bytes: Int, for stage: String) throws(PipelineError) {
        precondition(bytes >= 0)
        held += bytes
        most = max(most, held)
        if held > bound {
            throw PipelineError(
                .resourceExhausted,
                "The stage \(stage) needs more memory than a query may use: \(bound) bytes.")
        }
    }

    mutating func release(_ bytes: Int) {
        precondition(bytes <= held, "more was released than was reserved")
        held -= bytes
    }
}
