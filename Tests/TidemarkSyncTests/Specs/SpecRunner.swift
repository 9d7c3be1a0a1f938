import Foundation
import Testing
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Plays one scenario script to an engine, as its users and as its server.
final class SpecRunner {
    struct Unsupported: Error { let what: String }

    private let file = TemporaryFile()
    private var world: Harness
    private var wireIDs: [Int32: Int32] = [:]
    private var oldWireIDs: [Int32: [Int32]] = [:]
    private var events: [String] = []
    private let snapshots = Events<(QueryKey, Result<ViewSnapshot, SyncError>)>()
    private var seenSnapshots = 0
    private let acknowledged = Events<String>()
    private let rejected = Events<String>()
    private let waited = Events<Bool>()
    private var seen = (acknowledged: 0, rejected: 0, waited: 0)
    private var handles: [QueryKey: any CancellableCall] = [:]
    private var shaken = 0
    private var expected: [String: SpecJSON] = [:]
    private var isNetworkEnabled = true
    private(set) var problems: [String] = []

    init(_ config: SpecJSON) throws {
        limit = config["maxConcurrentLimboResolutions"]?.int.map(Int.init) ?? 100_000
        world = try Harness(cacheFile: file.path, maxLimbo: limit)
    }

    private let limit: Int
    private var core: EngineCore { world.engine.core }

    func run(_ steps: [SpecJSON]) throws {
        for (index, step) in steps.enumerated() {
            try act(step)
            drain()
            check(step, "step \(index)")
        }
    }

    private func drain() {
        while true {
            world.run()
            for (id, target) in core.remoteTargets {
                guard let wireID = target.wireID, wireIDs[id] != wireID else { continue }
                if let old = wireIDs[id] { oldWireIDs[id, default: []].append(old) }
                wireIDs[id] = wireID
            }
            let count = world.transport.writes.count
            guard count > shaken, !world.writeStream.isEnded else { return }
            shaken = count
            world.shakeHands()
        }
    }

    private func wires(_ json: SpecJSON?) -> [Int32] {
        (json?.ids ?? []).map { wireIDs[$0] ?? -$0 }
    }

    private func status(_ error: SpecJSON?) -> RPCStatus {
        let code = error?["code"]?.int ?? 0
        return RPCStatus(RPCStatus.Code(rawValue: Int32(code)) ?? .unknown, "spec")
    }

    // MARK: Acting

    private func act(_ step: SpecJSON) throws {
        for key in step.keys where !key.hasPrefix("expected") {
            let value = step[key]!
            if try !actAsUser(key, value), try !actAsServer(key, value) {
                throw Unsupported(what: key)
            }
        }
    }

    private func actAsUser(_ key: String, _ value: SpecJSON) throws -> Bool {
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
            world = try Harness(cacheFile: file.path, maxLimbo: limit)
            shaken = 0
            handles = [:]
        default: return false
        }
        return true
    }

    private func listen(_ value: SpecJSON) {
        world.scheduler.fire(.listenBackoff)
        let query = value["query"]!.query
        let key = QueryKey(query)
        var options = SyncEngine.ListenOptions(includeMetadataChanges: true)
        if let given = value["options"] {
            options.includeMetadataChanges = given["includeMetadataChanges"]?.flag ?? false
            if given["source"]?.text == "cache" { options.source = .cache }
            // `waitForSyncWhenOnline` is given in three scripts that expect the cache's rows at
            // once: their own runners pass it by.
        }
        handles[key] = world.engine.listen(query, options) { [snapshots] event in
            snapshots.record((key, event))
        }
        world.run()
        let id = core.queries[key]?.targetID
        if let id, Int64(id) != value["targetId"]!.int { problems.append("target \(id)") }
    }

    private func patch(_ value: SpecJSON) {
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

    private func write(_ mutation: Mutation) {
        let name = mutation.path.text
        world.engine.write([mutation]) { [acknowledged, rejected] event in
            switch event {
            case .journalled: break
            case .acknowledged: acknowledged.record(name)
            case .failed: rejected.record(name)
            }
        }
    }

    private func actAsServer(_ key: String, _ value: SpecJSON) throws -> Bool {
        switch key {
        case "watchAck": change(.add, wires(value))
        case "watchCurrent": change(.current, wires(value[0]), token: value[1].text!)
        case "watchReset": change(.reset, wires(value))
        case "watchRemove":
            let cause = value["cause"].map { status($0) }
            let ids = value["targetIds"]!.ids
            // Without a cause it answers a removal, so it is about the listen before this one.
            let old = cause == nil ? ids.compactMap { oldWireIDs[$0]?.last } : []
            for id in ids where cause == nil { _ = oldWireIDs[id]?.popLast() }
            change(.remove, old.isEmpty ? wires(value["targetIds"]) : old, cause: cause)
        case "watchSnapshot":
            world.push(
                .targetChange(
                    TargetChange(
                        .noChange, targetIDs: wires(value["targetIds"]),
                        resumeToken: Array((value["resumeToken"]?.text ?? "").utf8),
                        readTime: at(value["version"]!.int!))))
        case "watchEntity": entity(value)
        case "watchFilter": filter(value)
        case "watchStreamClose":
            world.stream.end(status(value["error"]))
            world.run()
            if value["runBackoffTimer"]?.flag == true { world.scheduler.fire(.listenBackoff) }
        case "writeAck":
            awaitWriteStream()
            let version = value["version"]!.int!
            world.acknowledge(at: version)
        case "failWrite":
            awaitWriteStream()
            world.writeStream.end(status(value["error"]))
        case "runTimer": world.scheduler.fireAll(upTo: Self.timers[value.text!]!)
        default: return false
        }
        return true
    }

    private static let timers: [String: TimerID] = [
        "listen_stream_idle": .listenIdle, "write_stream_idle": .writeIdle,
        "listen_stream_connection_backoff": .listenBackoff,
        "write_stream_connection_backoff": .writeBackoff, "online_state_timeout": .onlineState,
        "async_queue_retry": .storageRetry,
    ]

    private func awaitWriteStream() {
        drain()
        if world.scheduler.pendingTimers.contains(.writeBackoff) {
            world.scheduler.fire(.writeBackoff)
        }
        drain()
    }

    private func change(
        _ kind: TargetChange.Kind, _ ids: [Int32], token: String = "", cause: RPCStatus? = nil
    ) {
        world.push(
            .targetChange(
                TargetChange(kind, targetIDs: ids, cause: cause, resumeToken: Array(token.utf8))))
    }

    private func entity(_ value: SpecJSON) {
        let added = wires(value["targets"])
        let removed = wires(value["removedTargets"])
        for document in value["docs"]?.list ?? value["doc"].map({ [$0] }) ?? [] {
            let name = document["key"]!.text!
            let version = document["version"]!.int!
            if let fields = document["value"] {
                world.push(
                    .documentChange(
                        DocumentChange(
                            doc(name, version, fields.map), targetIDs: added,
                            removedTargetIDs: removed)))
            } else {
                world.push(
                    .documentDelete(
                        DocumentRemoval(
                            path(name), removedTargetIDs: removed, readTime: at(version))))
            }
        }
        if let name = value["key"]?.text {
            world.push(
                .documentRemove(
                    DocumentRemoval(path(name), removedTargetIDs: removed, readTime: nil)))
        }
    }

    private func filter(_ value: SpecJSON) {
        let bits = value["bloomFilter"].flatMap { filter -> BloomFilterBits? in
            let bytes = filter["bits"]?["bitmap"]?.text.flatMap { Data(base64Encoded: $0) }
            guard let bytes else { return nil }
            return BloomFilterBits(
                bitmap: Array(bytes), padding: Int32(filter["bits"]?["padding"]?.int ?? 0),
                hashCount: Int32(filter["hashCount"]?.int ?? 0))
        }
        for id in wires(value["targetIds"]) {
            world.push(
                .existenceFilter(
                    ExistenceFilter(
                        targetID: id, count: Int32(value["keys"]!.list.count),
                        unchangedNames: bits)))
        }
    }
}

// MARK: - Checking

extension SpecRunner {
    private func check(_ step: SpecJSON, _ place: String) {
        checkSnapshots(step["expectedSnapshotEvents"]?.list ?? [], place)
        let state = step["expectedState"]
        for key in ["activeTargets", "activeLimboDocs", "enqueuedLimboDocs"] {
            if let value = state?[key] { expected[key] = value }
        }
        let callbacks = state?["userCallbacks"]
        compare(
            Array(acknowledged.all.dropFirst(seen.acknowledged)),
            callbacks?["acknowledgedDocs"]?.list.compactMap(\.text) ?? [], "\(place) acks")
        compare(
            Array(rejected.all.dropFirst(seen.rejected)),
            callbacks?["rejectedDocs"]?.list.compactMap(\.text) ?? [], "\(place) rejections")
        compare(
            waited.all.count - seen.waited,
            Int(step["expectedWaitForPendingWritesEvents"]?.int ?? 0), "\(place) waits")
        seen = (acknowledged.all.count, rejected.all.count, waited.all.count)
        checkLimbo(place)
        if core.listenStream.isOpen { checkTargets(place) }
    }

    private func compare<T: Equatable>(_ actual: T, _ wanted: T, _ place: String) {
        if actual != wanted { problems.append("\(place): \(actual), wanted \(wanted)") }
    }

    private func checkLimbo(_ place: String) {
        compare(
            core.limbo.activePaths.map(\.text),
            (expected["activeLimboDocs"]?.list ?? []).compactMap(\.text).sorted(),
            "\(place) limbo")
        compare(
            core.limbo.queue.map(\.text).sorted(),
            (expected["enqueuedLimboDocs"]?.list ?? []).compactMap(\.text).sorted(),
            "\(place) limbo queue")
    }

    private func checkTargets(_ place: String) {
        guard let targets = expected["activeTargets"] else { return }
        let actual = core.remoteTargets.keys.map(String.init).sorted()
        compare(actual, targets.keys, "\(place) targets")
        for (id, target) in core.remoteTargets {
            guard let wanted = targets[String(id)], let wire = target.wireID else { continue }
            var token = ""
            for case .add(let request, _) in world.stream.sent where request.id == wire {
                if case .token(let bytes) = request.resume {
                    token = String(decoding: bytes, as: UTF8.self)
                }
            }
            compare(token, wanted["resumeToken"]?.text ?? "", "\(place) token of \(id)")
        }
    }

    private func checkSnapshots(_ wanted: [SpecJSON], _ place: String) {
        let new = snapshots.all.dropFirst(seenSnapshots)
        seenSnapshots = snapshots.all.count
        let actual = new.map { describe($0.0, $0.1) }.sorted()
        let expected = wanted.map(describe).sorted()
        if actual != expected {
            problems.append("\(place):\n   got \(actual)\n   not \(expected)")
        }
    }

    private func describe(_ key: QueryKey, _ event: Result<ViewSnapshot, SyncError>) -> String {
        let name = String(decoding: key.bytes, as: UTF8.self)
        switch event {
        case .failure(.server(let status)): return "\(name) error \(status.code.rawValue)"
        case .failure(let error): return "\(name) \(error)"
        case .success(let snapshot):
            let changes = snapshot.changes.map { change in
                let document = change.document
                // The scripts give documents with pending writes no version; here they keep the
                // one below the writes.
                let version =
                    document.hasLocalMutations ? 0 : document.document.updateTime.microseconds
                var text = "\(change.kind) \(document.path.text)@\(version) "
                text += document.document.fields.canonical
                if document.hasLocalMutations { text += " local" }
                if document.hasCommittedMutations { text += " committed" }
                return text
            }
            return "\(name) cache=\(snapshot.isFromCache) pending=\(snapshot.hasPendingWrites) "
                + changes.sorted().joined(separator: ", ")
        }
    }

    private func describe(_ kind: String, _ document: SpecJSON) -> String {
        let options = document["options"]
        var text = "\(kind) \(document["key"]!.text!)@\(document["version"]!.int!) "
        text += (document["value"] ?? .null).map.canonical
        if options?["hasLocalMutations"]?.flag == true { text += " local" }
        if options?["hasCommittedMutations"]?.flag == true { text += " committed" }
        return text
    }

    private func describe(_ event: SpecJSON) -> String {
        let name = String(decoding: QueryKey(event["query"]!.query).bytes, as: UTF8.self)
        let code = event["errorCode"]?.int ?? 0
        if code != 0 { return "\(name) error \(code)" }
        var changes: [String] = []
        for kind in ["added", "modified", "removed", "metadata"] {
            for document in event[kind]?.list ?? [] { changes.append(describe(kind, document)) }
        }
        return "\(name) cache=\(event["fromCache"]!.flag) "
            + "pending=\(event["hasPendingWrites"]!.flag) "
            + changes.sorted().joined(separator: ", ")
    }
}

extension MapValue {
    fileprivate var canonical: String { Value.map(self).canonicalID }
}
