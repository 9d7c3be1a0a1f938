import Foundation
import TidemarkModel
import TidemarkStore
import TidemarkTesting
import TidemarkTestKit

@testable import Tidemark
@testable import TidemarkSync

/// Plays one scenario script on an engine, as its users and as its server.
final class SpecRunner {
    struct Unsupported: Error { let what: String }

    let file = TemporaryFile()
    let cacheFile: String?
    var world: Harness
    var wireIDs: [Int32: Int32] = [:]
    var oldWireIDs: [Int32: [Int32]] = [:]
    var events: [String] = []
    let snapshots = Events<(QueryKey, Result<ViewSnapshot, SyncError>)>()
    var seenSnapshots = 0
    let acknowledged = Events<String>()
    let rejected = Events<String>()
    let waited = Events<Bool>()
    let inSync = Events<Bool>()
    var inSyncListeners: [any CancellableCall] = []
    var seen = (acknowledged: 0, rejected: 0, waited: 0, inSync: 0)
    var handles: [QueryKey: any CancellableCall] = [:]
    var shaken = 0
    /// The wire ids of targets that the server ended.
    var refused: Set<Int32> = []
    var expected: [String: SpecJSON] = [:]
    var isNetworkEnabled = true
    var problems: [String] = []

    let disk = FaultyDisk<StorageStep>()
    let limit: Int
    let sharesCache: Bool
    var user: String?

    /// - Parameter sharesCache: True if users share the documents and only the queue of writes is
    ///   separate for each user, as the scripts expect.
    init(_ script: SpecJSON, sharesCache: Bool = true) throws {
        self.sharesCache = sharesCache
        limit = script["config"]?["maxConcurrentLimboResolutions"]?.int.map(Int.init) ?? 100_000
        let restarts = script["steps"]?.list.contains { $0.keys.contains("restart") } ?? false
        // The cache is on disk only if the script needs a file: a sync of the file costs more than
        // the rest.
        cacheFile = restarts || !sharesCache ? file.path : nil
        world = try Harness(
            cacheFile: cacheFile, disk: disk, sharesCache: sharesCache, maxLimbo: limit)
    }

    var core: EngineCore { world.engine.core }

    func run(_ steps: [SpecJSON]) throws {
        for (index, step) in steps.enumerated() {
            try act(step)
            drain()
            check(step, "step \(index)")
        }
    }

    func drain() {
        while true {
            world.run()
            for (id, wireID) in core.wireIDs where wireIDs[id] != wireID {
                if let old = wireIDs[id] { oldWireIDs[id, default: []].append(old) }
                wireIDs[id] = wireID
            }
            let count = world.transport.writes.count
            guard count > shaken, !world.writeStream.isEnded else { return }
            shaken = count
            world.shakeHands()
        }
    }

    func wires(_ json: SpecJSON?) -> [Int32] {
        (json?.ids ?? []).map { wireIDs[$0] ?? -$0 }
    }

    func status(_ error: SpecJSON?) -> RPCStatus {
        let code = error?["code"]?.int ?? 0
        return RPCStatus(RPCStatus.Code(rawValue: Int32(code)) ?? .unknown, "spec")
    }

    // MARK: Acting

    func act(_ step: SpecJSON) throws {
        for key in step.keys where !key.hasPrefix("expected") {
            let value = step[key] ?? .null
            if try !actAsUser(key, value), try !actAsServer(key, value) {
                throw Unsupported(what: key)
            }
        }
    }

    func actAsUser(_ key: String, _ value: SpecJSON) throws -> Bool {
        switch key {
        case "userListen": listen(value)
        case "userUnlisten": handles.removeValue(forKey: QueryKey(value[1].query))?.cancel()
        case "userSet": write(Mutation(path: path(value[0].text!), .set(value[1].map)))
        case "userPatch": patch(value)
        case "userDelete": write(Mutation(path: path(value.text!), .delete))
        case "enableNetwork":
            isNetworkEnabled = value.flag
            world.engine.setNetworkEnabled(value.flag) {}
        case "waitForPendingWrites":
            world.engine.waitForPendingWrites { [waited] _ in waited.record(true) }
        case "restart":
            try core.local.store.close()
            world = try Harness(
                cacheFile: cacheFile, disk: disk, user: user, sharesCache: sharesCache,
                maxLimbo: limit)
            shaken = 0
            handles = [:]
            isNetworkEnabled = true
        case "addSnapshotsInSyncListener":
            inSyncListeners.append(
                world.engine.observeSnapshotsInSync { [inSync] in inSync.record(true) })
        case "removeSnapshotsInSyncListener": inSyncListeners.popLast()?.cancel()
        case "triggerLruGC":
            world.engine.collectGarbage(limit: value.int!, percent: 100) { _ in }
        case "loadBundle":
            let bundle = try DocumentBundle(text: value.text!)
            world.engine.loadBundle(bundle) { _ in }
        case "changeUser":
            user = value.text
            world.engine.changeUser(to: user) { _ in }
        case "failDatabase": failDatabase(value)
        default: return false
        }
        return true
    }

    func failDatabase(_ value: SpecJSON) {
        disk.fail(Set(value.list.flatMap { Self.transactions[$0.text!]! }))
    }

    /// The transactions of this engine that correspond to the scripts' names.
    static let transactions: [String: [StorageStep]] = [
        "Allocate target": [.allocateTarget], "Release target": [.releaseTarget],
        "Apply remote event": [.applyRemoteEvent],
        // This engine keeps the version in memory. The scripts read it before they apply an event.
        "Get last remote snapshot version": [.applyRemoteEvent],
        "Acknowledge batch": [.acknowledgeBatch], "Reject batch": [.rejectBatch],
        "Locally write mutations": [.writeLocally], "Handle user change": [.handleUserChange],
        // This engine pins views in memory, which cannot fail.
        "notifyLocalViewChanges": [],
    ]

    func listen(_ value: SpecJSON) {
        world.scheduler.fire(.listenBackoff)
        let query = value["query"]!.query
        let key = QueryKey(query)
        var options = SyncEngine.ListenOptions(includeMetadataChanges: true)
        if let given = value["options"] {
            options.includeMetadataChanges = given["includeMetadataChanges"]?.flag ?? false
            if given["source"]?.text == "cache" { options.source = .cache }
            // Three scripts give `waitForSyncWhenOnline` but expect the cache's rows immediately.
            // Their own runners ignore the option.
        }
        handles[key] = world.engine.listen(query, options) { [snapshots] event in
            snapshots.record((key, event))
        }
        world.run()
        let id = core.listenedQueries.first { $0.key == key }?.targetID
        if let id, Int64(id) != value["targetId"]!.int { problems.append("target \(id)") }
    }

    func patch(_ value: SpecJSON) {
        var fields = MapValue()
        var mask: [FieldPath] = []
        for key in value[1].keys {
            let field = SpecJSON.field(key)
            mask.append(field)
            if value[1][key]?.text != "<DELETE>" { fields[field] = (value[1][key] ?? .null).value }
        }
        write(
            Mutation(
                path: path(value[0].text!), .patch(fields, mask: mask),
                precondition: .exists(true)))
    }

    func write(_ mutation: Mutation) {
        let name = mutation.path.text
        world.engine.write([mutation]) { [acknowledged, rejected] event in
            switch event {
            case .journalled: break
            case .acknowledged: acknowledged.record(name)
            case .failed: rejected.record(name)
            }
        }
    }
}

extension DocumentBundle {
    /// Reads a whole bundle.
    fileprivate init(text: String) throws {
        self.init(id: "", createTime: .epoch)
        var reader = BundleReader(Harness.database)
        reader.append(Array(text.utf8))
        while let event = try reader.nextEvent(isEnd: true) {
            switch event {
            case .began(let id, let createTime): (self.id, self.createTime) = (id, createTime)
            case .document(let document): documents.append(document)
            case .query(let query): namedQueries.append(query)
            }
        }
    }
}
