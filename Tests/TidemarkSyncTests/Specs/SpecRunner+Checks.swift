import TidemarkModel
import TidemarkTesting

@testable import TidemarkSync

extension SpecRunner {
    func check(_ step: SpecJSON, _ place: String) {
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
        compare(
            inSync.all.count - seen.inSync,
            Int(step["expectedSnapshotsInSyncEvents"]?.int ?? 0), "\(place) in sync")
        seen = (acknowledged.all.count, rejected.all.count, waited.all.count, inSync.all.count)
        checkCounts(state, place)
        checkLimbo(place)
        checkTargets(place)
    }

    private func checkCounts(_ state: SpecJSON?, _ place: String) {
        if let count = state?["numOutstandingWrites"]?.int {
            compare(core.countUnderWay, Int(count), "\(place) outstanding writes")
        }
        if let count = state?["writeStreamRequestCount"]?.int {
            let sent = world.transport.writes.map(\.sent.count).reduce(0, +)
            compare(sent, Int(count), "\(place) write requests")
        }
        if let count = state?["watchStreamRequestCount"]?.int {
            let sent = world.transport.listens.map(\.sent.count).reduce(0, +)
            compare(sent, Int(count), "\(place) listen requests")
        }
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

    /// Compares the active targets with the targets that the script expects. While the network is
    /// disabled, no target is expected, whatever the script says.
    private func checkTargets(_ place: String) {
        let wanted = isNetworkEnabled ? expected["activeTargets"] ?? .object([:]) : .object([:])
        let actual = activeTargets()
        compare(actual.keys.sorted(), wanted.keys.sorted(), "\(place) targets")
        for (id, listen) in actual {
            guard let target = wanted[id] else { continue }
            let place = "\(place) target \(id)"
            var (token, readTime) = ("", Int64(0))
            switch listen.target.resume {
            case .token(let bytes): token = String(decoding: bytes, as: UTF8.self)
            case .readTime(let time): readTime = time.microseconds
            case .fromScratch: break
            }
            compare(token, target["resumeToken"]?.text ?? "", "\(place) token")
            compare(readTime, target["readTime"]?.int ?? 0, "\(place) read time")
            if let count = target["expectedCount"]?.int {
                compare(listen.target.expectedCount, Int32(count), "\(place) expected count")
            }
            compare(
                listen.labels["goog-listen-tags"], target["targetPurpose"].map(Self.label),
                "\(place) purpose")
            for query in target["queries"]?.list ?? [] {
                compare(listen.target.kind, Self.kind(query.query), "\(place) query")
            }
        }
    }

    /// Returns the targets that were added on the open stream and not removed, by the engine's own
    /// ids.
    private func activeTargets() -> [String: (target: ListenTarget, labels: [String: String])] {
        guard let stream = world.transport.listens.last, !stream.isEnded else { return [:] }
        var byWireID: [Int32: (target: ListenTarget, labels: [String: String])] = [:]
        for request in stream.sent {
            switch request {
            case .add(let target, let labels): byWireID[target.id] = (target, labels)
            case .remove(let id): byWireID[id] = nil
            case .unreadable(let id, let status): problems.append("target \(id): \(status)")
            }
        }
        for id in refused { byWireID[id] = nil }
        let names = Dictionary(
            uniqueKeysWithValues: core.wireIDs.map { id, wireID in (wireID, String(id)) })
        return Dictionary(
            uniqueKeysWithValues: byWireID.map { (names[$0] ?? "wire id \($0)", $1) })
    }

    private static func kind(_ query: Query) -> ListenTarget.Kind {
        query.onlyDocument.map { .documents([$0]) } ?? .query(query.wireForm)
    }

    private static func label(_ purpose: SpecJSON) -> String {
        switch purpose.text {
        case "TargetPurposeLimboResolution": "limbo-document"
        case "TargetPurposeExistenceFilterMismatch": "existence-filter-mismatch"
        case "TargetPurposeExistenceFilterMismatchBloom": "existence-filter-mismatch-bloom"
        default: "unknown purpose \(purpose)"
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
        // The scripts give a failed transaction the number of `unavailable`.
        case .failure(.storage): return "\(name) error 14"
        case .failure(let error): return "\(name) \(error)"
        case .success(let snapshot):
            let changes = snapshot.changes.map { change in
                let document = change.document
                // The scripts give documents with pending writes no version. This engine keeps the
                // version of the document below the writes.
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
