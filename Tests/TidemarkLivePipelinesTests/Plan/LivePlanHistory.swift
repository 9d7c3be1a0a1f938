import TestSupport
import Tidemark
import TidemarkLivePipelines
import TidemarkTesting

/// A random use of live pipelines, each step of which is planned before it is played. The bill of
/// the server must be the plan's after each step.
final class LivePlanHistory {
    struct Differs: Error, CustomStringConvertible {
        let description: String
    }

    /// The kinds of planned requests that were compared.
    private(set) var kinds: [LivePipelinePlan.Read.Kind: Int] = [:]
    /// The number of compared openings and commits.
    private(set) var steps = 0
    private let place: BilledPlace
    private let isIndexed: Bool
    private let ways: [BilledPipeline]
    private var lastUses: [BilledPipeline: ClosedRange<Timestamp>] = [:]
    private var random: SeededRandom
    private var log: [String] = []

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        isIndexed = seed / 2 % 4 != 0
        place = try BilledPlace(
            seed: seed, seed % 2 == 0 ? .standard : .enterprise, isIndexed: isIndexed)
        let all = BilledPipeline.allCases
        ways = [all[Int(seed % UInt64(all.count))], all.randomElement(using: &random)!]
    }

    func play() async throws {
        defer { place.end() }
        place.commit((0..<pick(0...30)).map { _ in mutation() }.distinct)
        for _ in 0..<pick(2...5) {
            try await visit()
            pass()
        }
    }

    private func pick(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    // MARK: A use

    private func visit() async throws {
        if pick(0...2) == 0 {
            log.append("launch")
            try place.launch()
        }
        let way = ways[pick(0...1)]
        log.append("open \(way)")
        let pipeline = way.pipeline(place.device)
        place.openWrites()
        var planned = place.bill
        var plan = try await place.plan(
            pipeline, of: documents(way), lastUse: lastUses[way], isIndexed: isIndexed)
        try check(place.bill == planned, "a plan sends nothing")
        let begun = place.now
        var live = try place.listen(to: pipeline)
        place.settle()
        try compare(plan, from: planned, live)
        for _ in 0..<pick(0...8) {
            if pick(0...7) == 0 {
                log.append("open again")
                live.stop()
                plan.now = place.now
                plan.close()
                place.advance(by: .seconds(pick(1...600)))
                place.openWrites()
                plan.now = place.now
                plan.open()
                live = try place.listen(to: pipeline)
                place.settle()
            } else {
                play(&plan, way)
            }
            try compare(plan, from: planned, live)
        }
        for read in plan.reads { kinds[read.kind, default: 0] += 1 }
        live.stop()
        lastUses[way] = begun...place.now
        planned += plan.bill
        place.settle()
        try check(place.isBilled(planned), "the end costs nothing")
    }

    /// Plays a commit of another client or of the device.
    private func play(_ plan: inout LivePipelinePlan, _ way: BilledPipeline) {
        let before = place.documents
        let isOwn = pick(0...2) == 0
        let deleted = change(isOwn: isOwn)
        let old = Dictionary(uniqueKeysWithValues: before.map { ($0.path, $0.updateTime) })
        plan.now = place.now
        plan.commit(
            documents(way).filter { old[$0.path] != $0.changedAt }, deleting: deleted,
            isOwn: isOwn)
    }

    private func compare(
        _ plan: LivePipelinePlan, from begin: PlannedBill, _ live: BilledPlace.Live
    ) throws {
        steps += 1
        var due = begin
        due += plan.bill
        try check(live.isFresh, "the rows are not the server's")
        try check(
            place.isBilled(due),
            "planned \(due), \(plan.listeners), then \(plan.reads.suffix(4))")
    }

    private func check(_ isRight: Bool, _ words: String) throws {
        if isRight { return }
        throw Differs(
            description: """
                \(place.edition) indexed \(isIndexed): \(words); billed \(place.bill); \
                \(log.joined(separator: ", "))
                """)
    }

    /// Returns the server's documents.
    private func documents(_ way: BilledPipeline) -> [ExpectedSourceDocument] {
        place.documents.map { document in
            ExpectedSourceDocument(
                path: document.path, fields: document.fields, changedAt: document.updateTime,
                entryBytes: way.entryBytes(of: document.path))
        }
    }

    // MARK: Changes

    /// Lets time pass, in which the device and others write. After less than 30 minutes a listener
    /// resumes; after more the server has forgotten the history.
    private func pass() {
        let isLong = pick(0...1) == 0
        let minutes = isLong ? pick(33...2_000) : pick(1...18)
        let moments = pick(1...6)
        log.append("\(minutes) min")
        // The history behind this change is kept, so the change is the last that is forgotten.
        ring()
        for _ in 0..<moments {
            place.advance(by: .seconds(60 * minutes / moments))
            if pick(0...3) > 0 { change(isOwn: pick(0...3) == 0) }
        }
        // The client keeps its stream for another minute, so a bill near the limit is not known.
        while lastUses.values.contains(where: isNearLimit) { place.advance(by: .seconds(60)) }
        for _ in 0..<3 { ring() }
    }

    private func isNearLimit(_ use: ClosedRange<Timestamp>) -> Bool {
        let away = place.now.duration(since: use.upperBound)
        return away > .seconds(28 * 60) && away < .seconds(32 * 60)
    }

    /// Plays a commit elsewhere, with which the server forgets old changes.
    private func ring() {
        let path = DocumentPath(unchecked: "bells/bell")
        place.commit([Mutation(path: path, .set(["rings": .integer(Int64(pick(0...9_999)))]))])
    }

    /// - Returns: The documents that were deleted, whether they existed or not.
    @discardableResult
    private func change(isOwn: Bool) -> [DocumentPath] {
        let mutations = (0..<pick(1...3)).map { _ in mutation() }.distinct
        log.append("\(isOwn ? "own " : "")\(mutations.map(\.words).joined(separator: " + "))")
        if isOwn { place.write(mutations) } else { place.commit(mutations) }
        return mutations.filter { $0.operation == .delete }.map(\.path)
    }

    private func mutation() -> Mutation {
        let text: String
        switch pick(0...5) {
        case 0: text = "people/p\(pick(0...3))"
        case 1: text = "c/d\(pick(0...3))/s/e\(pick(0...3))"
        default: text = "c/d\(pick(0...11))"
        }
        let path = DocumentPath(unchecked: text)
        if pick(0...4) == 0 { return Mutation(path: path, .delete) }
        let long = pick(0...7) == 0 ? 5_000 : 10
        var fields: MapValue = [
            "name": .string("P\(pick(0...999))"), "by": .string("p\(pick(0...3))"),
            "kind": .integer(Int64(pick(0...2))),
            "text": .string("word " + String(repeating: "x", count: long)),
        ]
        if pick(0...9) > 0 { fields["n"] = .integer(Int64(pick(-2...20))) }
        return Mutation(path: path, .set(fields))
    }
}

extension Mutation {
    fileprivate var words: String {
        guard case .set(let fields) = operation else { return "\(path.text) deleted" }
        return "\(path.text) kind \(fields["kind"]!) n \(fields["n"] ?? .null)"
    }
}

extension [Mutation] {
    /// The first mutation of each document.
    fileprivate var distinct: [Mutation] {
        var seen: Set<DocumentPath> = []
        return filter { seen.insert($0.path).inserted }
    }
}
