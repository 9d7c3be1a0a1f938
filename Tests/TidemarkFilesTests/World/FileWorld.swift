import Foundation
import Tidemark
import TidemarkModel
import TidemarkStore

@testable import TidemarkFiles
@testable import TidemarkSync

/// A phone with a journal on disk, Storage and Firestore in one thread. A seed decides the writes,
/// the faults and the kills, which happen between any two effects. The journal, the upload machine
/// and the lanes are those of the product; Storage and Firestore are models. Files are sent before
/// their documents or after them, and documents are deleted with their files. The network changes
/// its cost, and some files exclude networks.
struct FileWorld {
    private struct Killed: Error {}

    /// An upload of this process, and the event that its machine receives next.
    private struct Run {
        var machine: UploadMachine
        var event = UploadMachine.Event.begin
    }

    private(set) var violations: [String] = []
    private(set) var kills = 0
    private(set) var refusals = 0
    /// The numbers of documents that were completed after they were sent, and of objects whose
    /// documents were deleted.
    var completions: Int { firestore.completions }
    var deletions: Int { firestore.deleted.count }
    /// The number of turns in which a file waited for another network.
    private(set) var waits = 0
    private let planted: FileDefect?
    /// True if the lanes ignore the rules about networks: a planted defect.
    private let ignoresNetworks: Bool
    private var network = NetworkCost()
    /// The rules about networks, by the name of the object.
    private var rules: [String: NetworkRules] = [:]
    /// The objects of files that follow their documents.
    private var following: Set<String> = []
    private let folder: TemporaryFolder
    private var local: LocalStore
    private var dice: ModelDice
    private var isCalm = false
    private let faultRate: Double
    private let killRate: Double
    private var now: Int64 = 1_790_000_000

    private var runs: [Int64: Run] = [:]
    private var lanes: UploadLanes
    /// The copies on the phone's disk.
    private var copies: Set<String> = []
    /// The objects of Storage, by name.
    private var storage: [String: ModelStorage] = [:]
    private var firestore = ModelFirestore()
    /// The batches that were sent and are not answered, in order.
    private var sent: [Int64] = []
    private var written = 0

    /// - Parameters:
    ///   - planted: A defect of the product's queue.
    ///   - ignoresNetworks: True to plant a defect of the product's lanes.
    init(seed: UInt64, planted: FileDefect? = nil, ignoresNetworks: Bool = false) throws {
        self.planted = planted
        self.ignoresNetworks = ignoresNetworks
        lanes = Self.lanes(ignoresNetworks)
        dice = ModelDice(seed)
        faultRate = dice.pick([0, 0.1, 0.3])
        killRate = dice.pick([0, 0.02, 0.1])
        folder = try TemporaryFolder()
        local = try Self.open(folder, planted)
    }

    private static func open(
        _ folder: TemporaryFolder, _ planted: FileDefect?
    ) throws -> LocalStore {
        let local = try LocalStore(
            .file(folder.url.appendingPathComponent("cache").path),
            database: DatabaseID(project: "p"))
        #if TIDEMARK_DEFECTS
            local.queue.planted = planted
        #endif
        return local
    }

    private static func lanes(_ ignoresNetworks: Bool) -> UploadLanes {
        var lanes = UploadLanes(smallBytes: 300_000, smallAtOnce: 2)
        #if TIDEMARK_DEFECTS
            lanes.ignoresNetworks = ignoresNetworks
        #endif
        return lanes
    }

    private var queue: LocalQueue { local.queue }
    private func files() throws -> [QueuedFile] { try queue.readFiles { try $0.all($1) } }

    /// Plays troubled steps, and then calm ones until nothing is left to do.
    mutating func play() throws {
        for _ in 0..<60 { try perform { try $0.troubledStep() } }
        isCalm = true
        network = NetworkCost()
        var rounds = 0
        while try !isIdle() {
            try perform { try $0.work() }
            rounds += 1
            if rounds > 2_000 {
                let rows = try files().map { "\($0.id) of \($0.batch): \($0.state)" }
                violations.append("the phone has no end: \(queue.pending.turns), \(rows)")
                break
            }
        }
        try check()
    }

    /// Performs steps of the phone, which a kill can end.
    private mutating func perform(_ body: (inout FileWorld) throws -> Void) throws {
        do { try body(&self) } catch is Killed {
            kills += 1
            local.abandon()
            local = try Self.open(folder, planted)
            (runs, sent) = ([:], [])
            lanes = Self.lanes(ignoresNetworks)
        }
    }

    private mutating func mayBeKilled() throws {
        if !isCalm, dice.happens(killRate) { throw Killed() }
    }

    private mutating func troubledStep() throws {
        now += Int64(dice.below(60))
        switch dice.below(14) {
        case 0...1: try write(files: 0)
        case 2...3: try write(files: 1 + dice.below(2))
        case 4: try decide()
        case 5: try delete()
        case 6:
            network = NetworkCost(
                isExpensive: dice.happens(0.5), isConstrained: dice.happens(0.3))
        default: try work()
        }
    }

    // MARK: The user

    private mutating func write(files count: Int) throws {
        written += 1
        let path = try DocumentPath("chats/\(dice.below(4))")
        // The models refuse a batch by its contents, so a repeated batch is refused again.
        var fields: MapValue = ["n": .integer(Int64(written))]
        if dice.happens(0.15) { fields["refused"] = .boolean(true) }
        var attached: [AttachedFile] = []
        for number in 0..<count {
            let id = "\(written)-\(number)"
            let size = Int64(dice.pick([0, 10, 262_144, 500_000, 1_200_000]))
            copies.insert(id)
            let facts = FileFacts(
                copy: id,
                digest: FileDigest(
                    size: size, sha256: "", md5: ModelBytes.whole(1, size: size).digest),
                contentType: "image/jpeg", metadata: [:])
            let object = ObjectName(bucket: "b", name: "f/\(id).jpg")
            let field = FieldPath(name: "photo\(number)")
            let stored = Value.map(["path": .string(object.name), "size": .integer(size)])
            let rules: NetworkRules = dice.pick([[], [], .wifiOnly, [.wifiOnly, .notOnLowData]])
            self.rules[object.name] = rules
            var file = AttachedFile(
                document: path, field: field, object: object, size: size,
                facts: FileCoding.encode(facts), networkRules: rules.stored)
            fields[field] = stored
            if dice.happens(0.4) {
                following.insert(object.name)
                fields[field] = .map(["pending": .boolean(true), "name": .string(object.name)])
                var completion = MapValue()
                completion[field] = stored
                file.completion = Mutation(
                    path: path, .patch(completion, mask: [field]), precondition: .exists(true))
            }
            attached.append(file)
        }
        try mayBeKilled()
        _ = try queue.enqueue(
            [Mutation(path: path, .set(fields))], at: Timestamp(seconds: now, nanoseconds: 0),
            attaching: attached)
        try mayBeKilled()
    }

    /// Deletes a document with its files. Firestore refuses some of these batches.
    private mutating func delete() throws {
        let path = try DocumentPath("chats/\(dice.below(4))")
        var mutations = [Mutation(path: path, .delete)]
        if dice.happens(0.15) {
            let fields: MapValue = ["refused": .boolean(true)]
            mutations.append(Mutation(path: try DocumentPath("chats/none"), .set(fields)))
        }
        let files = ModelFirestore.fields.map {
            DeletedFile(document: path, field: FieldPath(name: $0), bucket: "b")
        }
        try mayBeKilled()
        _ = try queue.enqueue(
            mutations, at: Timestamp(seconds: now, nanoseconds: 0), deleting: files)
        try mayBeKilled()
    }

    /// The user retries or discards what was refused, or gives up a file that waits.
    private mutating func decide() throws {
        if let refused = try queue.rejectedWrites().first {
            if dice.happens(0.5) { return try queue.discardRejected(refused.batch) }
            let rows = try queue.readFiles { try $0.files(ofBatch: refused.batch, $1) }
            let again = FilesAgain(refused.mutations, files: rows, batch: refused.batch)
            _ = try queue.enqueue(
                again.mutations, at: Timestamp(seconds: now, nanoseconds: 0),
                inPlaceOf: refused.batch, attaching: again.attached?.files ?? [])
        } else if let file = try files().first(where: {
            queue.pending.isHeld($0.batch) && $0.state != .behindDocument
        }), dice.happens(0.3) {
            if file.file.completion != nil {
                _ = try queue.giveUpFiles(of: file.batch)
            } else {
                _ = try queue.changeFiles(dropping: file.batch) {
                    try $0.batchIsDiscarded(file.batch, $1)
                }
            }
        }
        try mayBeKilled()
    }

    // MARK: The outbox

    private mutating func work() throws {
        let rows = try files()
        for row in rows where row.state == .over {
            runs[row.id] = nil
            lanes.end(row.id)
            copies.remove(facts(row).copy)
            try mayBeKilled()
            _ = try queue.changeFiles { try $0.remove(row.id, $1) }
        }
        let waiting = rows.filter { $0.state == .waiting }
        let broken = NetworkRules(brokenBy: network)
        if waiting.contains(where: { !$0.networkRules.isDisjoint(with: broken) }) { waits += 1 }
        let decision = lanes.decide(waiting.map { .init($0, broken) })
        for id in decision.yields {
            runs[id] = nil
            lanes.end(id)
        }
        for row in waiting where decision.starts.contains(row.id) {
            let record = FileCoding.upload(row.upload).record
            runs[row.id] = Run(machine: UploadMachine(facts(row).target(row.file.object), record))
        }
        for id in runs.keys.sorted() { try step(id) }
        try remove()
        try send()
        if dice.happens(isCalm ? 1 : 0.6) { try answer() }
    }

    private func facts(_ row: QueuedFile) -> FileFacts {
        FileCoding.decode(FileFacts.self, row.file.facts)!
    }

    private mutating func step(_ id: Int64) throws {
        guard var run = runs[id] else { return }
        let moment = UploadMachine.Moment(
            now: now, elapsed: .seconds(now - 1_790_000_000), jitter: dice.fraction())
        for effect in run.machine.step(run.event, at: moment) {
            try mayBeKilled()
            let record = run.machine.record
            switch effect {
            case .store(let record): try keep(UploadState(record: record), of: id, as: .waiting)
            case .progress, .cancel: break
            case .checkCopy, .compareCopy:
                let copy = try files().first { $0.id == id }.map { facts($0).copy } ?? ""
                run.event = .copy(copies.contains(copy) ? .same : .missing)
            case .send(let request): run.event = send(request, run.machine.target)
            case .refreshToken: run.event = .refreshed(isDone: true)
            case .wait(let time):
                now += time.components.seconds
                run.event = .ready
            case .finished:
                try keep(UploadState(record: record), of: id, as: .uploaded)
                return ended(id)
            case .failed(let problem):
                violations.append("file \(id) failed: \(problem)")
                try keep(UploadState(record: record, problem: problem), of: id, as: .failed)
                return ended(id)
            }
        }
        runs[id] = run
    }

    private mutating func ended(_ id: Int64) {
        runs[id] = nil
        lanes.end(id)
    }

    private func keep(_ state: UploadState, of id: Int64, as new: QueuedFile.State) throws {
        _ = try queue.changeFiles {
            try $0.change(
                id, from: [.waiting], to: new, upload: FileCoding.encode(state), $1)
        }
    }

    private mutating func send(
        _ request: UploadMachine.Request, _ target: UploadTarget
    ) -> UploadMachine.Event {
        if following.contains(target.name), !firestore.announced.contains(target.name) {
            violations.append("\(target.name) was sent before its document")
        }
        if rules[target.name]?.contains(.wifiOnly) == true, network.isExpensive {
            violations.append("\(target.name) was sent on a network that it excludes")
        }
        if rules[target.name]?.contains(.notOnLowData) == true, network.isConstrained {
            violations.append("\(target.name) was sent on a network that it excludes")
        }
        var part: ModelPart?
        if case .chunk(_, let offset, let length, _) = request {
            part = ModelPart(version: 1, range: offset..<(offset + Int64(length)))
        }
        let fault = !isCalm && dice.happens(faultRate) ? dice.pick(ModelFault.allCases) : nil
        var object = storage[target.name] ?? ModelStorage(ModelHabits())
        let answer = object.answer(
            request, part: part, size: target.size, now: now, fault, &dice)
        storage[target.name] = object
        return answer.map { .answer($0) } ?? .broke
    }

    private mutating func remove() throws {
        for removal in try queue.readFiles({ try $0.removals($1) }) {
            if !isCalm, dice.happens(faultRate) { continue }
            if firestore.names(removal.object.name) {
                violations.append("\(removal.object.name) is deleted, and its document is not")
            }
            var object = storage[removal.object.name] ?? ModelStorage(ModelHabits())
            _ = object.answer(.remove, part: nil, size: 0, now: now, nil, &dice)
            storage[removal.object.name] = object
            try mayBeKilled()
            _ = try queue.changeFiles { try $0.endRemoval(removal.id, $1) }
        }
    }

    // MARK: Firestore

    private mutating func send() throws {
        while sent.count < 10, let batch = queue.pending.batch(toSendAfter: sent.last) {
            sent.append(batch.id)
            let place = firestore.acknowledged + sent.count - 1
            guard let problem = firestore.receive(batch.mutations, at: place) else { continue }
            violations.append("batch \(batch.id): \(problem)")
        }
        for (path, object) in firestore.namedObjects where !isWhole(object.name, object.size) {
            violations.append("\(path) was committed without \(object.name)")
        }
        try mayBeKilled()
    }

    private func isWhole(_ name: String, _ size: Int64) -> Bool {
        storage[name]?.object == ModelBytes.whole(1, size: size)
    }

    /// Stores the answer to the first batch that was sent.
    private mutating func answer() throws {
        guard let id = sent.first, let batch = queue.pending.batch(id) else { return }
        let time = Timestamp(seconds: now, nanoseconds: 0)
        if ModelFirestore.refuses(batch.mutations) {
            refusals += 1
            _ = try queue.reject(batch, RPCStatus(.permissionDenied, "no"), at: time)
            // The stream ends, and the other batches are sent again on a new one.
            firestore.endStream()
            sent = []
        } else {
            let results = batch.mutations.map { _ in MutationResult(updateTime: time) }
            _ = try queue.acknowledge(batch, results, commitTime: time)
            firestore.acknowledged += 1
            sent.removeFirst()
        }
        try mayBeKilled()
    }

    // MARK: The end

    /// True if only refused writes are left, which wait for the user.
    private func isIdle() throws -> Bool {
        let removals = try queue.readFiles { try $0.removals($1) }
        return try queue.pending.isEmpty && removals.isEmpty
            && files().allSatisfy { $0.state == .rejected }
    }

    private mutating func check() throws {
        let kept = try Set(files().map { facts($0).copy })
        // A copy whose row was never journalled is swept at the start.
        let unknown = copies.subtracting(kept)
        if kills == 0, !unknown.isEmpty { violations.append("copies stay: \(unknown.sorted())") }
        if !kept.isSubset(of: copies) { violations.append("copies are missing") }
        let named = Set(firestore.everNamed)
        for (name, object) in storage.sorted(by: { $0.key < $1.key }) {
            if object.object != nil, !named.contains(name) {
                violations.append("\(name) is an orphan")
            }
            if object.object != nil, firestore.deleted.contains(name) {
                violations.append("\(name) stays, and its document was deleted")
            }
            if object.generation > 1 { violations.append("\(name) was made twice") }
        }
        for path in firestore.documents.keys.sorted() {
            for field in ModelFirestore.fields where firestore.isPending(field, in: path) {
                violations.append("\(field) of \(path) is pending for ever")
            }
        }
    }
}
