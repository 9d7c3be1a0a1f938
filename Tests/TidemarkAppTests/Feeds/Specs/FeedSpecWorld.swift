import Foundation
import Synchronization
import Tidemark
@testable import TidemarkApp
import TidemarkServer
import TidemarkSimulation
import TidemarkTesting

/// A real server, and devices with real engines, on one thread and on virtual time. The tests drive
/// the feeds' machines directly.
final class FeedSpecWorld {
    static let database = try! DatabaseID(project: "specs")

    let time = VirtualScheduler()
    let server: FirestoreServer
    let definition: ParsedDefinition
    private(set) var devices: [String: FeedSpecDevice] = [:]
    private let folder: String

    init(_ definition: ParsedDefinition, devices names: [String]) throws {
        let time = time
        self.definition = definition
        server = try FirestoreServer(
            .init(),
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { 4 }, executor: WorldProcess(on: time)))
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-" + UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for name in names {
            devices[name] = FeedSpecDevice(name, file: folder + "/" + name, in: self)
            try devices[name]?.launch()
        }
    }

    func end() {
        for device in devices.values { device.terminate() }
        server.close()
        time.runUntilIdle()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var context: CallContext { CallContext(database: Self.database, label: "author") }

    /// Returns the replies to a request, without a network.
    func replies(_ request: Request) throws -> [Reply] {
        let state = Mutex<(replies: [Reply], end: RPCStatus?)>(([], nil))
        _ = server.call(request, context) { event in
            state.withLock { state in
                switch event {
                case .message(let reply): state.replies.append(reply)
                case .ended(let status): state.end = status
                }
            }
        }
        time.runUntilIdle()
        return try state.withLock { state in
            guard state.end?.code == .ok else {
                throw FeedSpecError("the server: \(state.end.map { "\($0)" } ?? "no answer")")
            }
            return state.replies
        }
    }

    func commit(_ mutations: [Mutation]) throws {
        _ = try replies(.commit(CommitRequest(mutations: mutations)))
    }

    func document(_ path: DocumentPath) throws -> MapValue? {
        let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
        for case .batchGetDocuments(let reply) in try replies(request) {
            if case .found(let document)? = reply.row { return document.fields }
        }
        return nil
    }

    /// Returns the items that a device shows after it reads everything, newest first.
    func truth(above action: Timestamp?) throws -> [String] {
        var query = definition.query
        query.orders = [
            Order(definition.itemTime, .descending), Order(.documentID, .descending),
        ]
        return try replies(.runQuery(RunQueryRequest(query: query))).compactMap { reply in
            guard case .runQuery(let row) = reply, let document = row.document,
                !definition.isDeleted(document.fields),
                case .timestamp(let time)? = document.fields[definition.itemTime],
                action.map({ time > $0 }) ?? true
            else { return nil }
            return document.specText
        }
    }
}

struct FeedSpecError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Document {
    /// The document's id, followed by its text unless the text is "hello".
    var specText: String {
        guard case .string(let text)? = fields["text"], text != "hello" else { return path.id }
        return path.id + " " + text
    }
}

/// A device: an engine on its own file, and a feed.
// @unchecked: a world uses only one thread.
final class FeedSpecDevice: @unchecked Sendable {
    typealias Machine = FeedMachine<ViewDocument>

    let name: String
    private let file: String
    private unowned let world: FeedSpecWorld
    let link: FeedSpecLink
    /// The duration by which the device's clock is ahead.
    var skew = Duration.zero
    private(set) var machine: Machine
    private var performer: FeedPerformer<ViewDocument>?
    private(set) var engine: SyncEngine?
    private var outcomes: [Int: Machine.Outcome] = [:]
    private var lastCall = 0
    private var looked = 0
    private(set) var events: [FeedEvent] = []

    init(_ name: String, file: String, in world: FeedSpecWorld) {
        self.name = name
        self.file = file
        self.world = world
        link = FeedSpecLink(world.server)
        machine = Machine(world.definition.settings)
    }

    private var now: Timestamp { world.time.now.advanced(by: skew) }

    func launch() throws {
        let engine = try SyncEngine(
            .init(database: FeedSpecWorld.database, cacheFile: file, label: name),
            SyncEnvironment(
                transport: link, scheduler: WorldProcess(on: world.time),
                now: { [unowned self] in now }, random: { 0.5 }))
        self.engine = engine
        machine = Machine(world.definition.settings)
        performer = FeedPerformer(
            world.definition, engine.session, in: FeedSpecWorld.database, deadline: .seconds(20),
            content: { $0 })
        performer?.followOwn { [unowned self] event in step(event) }
        _ = try call { .open($0) }
    }

    func live(_ isOn: Bool) {
        _ = readsSinceLastLook()
        step(.live(isOn))
        world.time.runUntilIdle()
    }

    func readsSinceLastLook() -> Int {
        defer { looked = billed }
        return billed - looked
    }

    func terminate() {
        performer?.close()
        engine?.terminate {}
        engine = nil
        world.time.runUntilIdle()
    }

    func relaunch() throws {
        terminate()
        try launch()
    }

    /// Makes a call and returns its outcome. Time advances only until the call ends.
    func call(_ event: (Int) -> Machine.Event) throws -> Machine.Outcome {
        lastCall += 1
        step(event(lastCall))
        world.time.runUntilIdle()
        for _ in 0..<120 where outcomes[lastCall] == nil { world.time.advance(by: .seconds(1)) }
        guard let outcome = outcomes[lastCall] else {
            throw FeedSpecError("\(name): a call did not end in two minutes")
        }
        return outcome
    }

    private func step(_ event: Machine.Event) {
        let clocks = DeviceTime(wall: now, elapsed: world.time.elapsed)
        for effect in machine.step(event, now: clocks) {
            switch effect {
            case .publish: break
            case .notify(let event): events.append(event)
            case .finish(let call, let outcome): outcomes[call] = outcome
            default: performer?.perform(effect) { [unowned self] in step($0) }
            }
        }
    }

    var shown: [String] { machine.shown.rows.map(\.content.document.specText) }

    /// The number of reads that the server billed to this device.
    var billed: Int {
        world.server.meter().filter { $0.label == name }.map(\.reads).reduce(0, +)
    }
}
