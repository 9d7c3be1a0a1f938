import Foundation
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

// The steps in which the script acts as the server.

extension SpecRunner {
    func actAsServer(_ key: String, _ value: SpecJSON) throws -> Bool {
        switch key {
        case "watchAck": change(.add, wires(value))
        case "watchCurrent": change(.current, wires(value[0]), token: value[1].text!)
        case "watchReset": change(.reset, wires(value))
        case "watchRemove":
            let cause = value["cause"].map { status($0) }
            let ids = value["targetIds"]!.ids
            // A message without a cause answers a removal, so it concerns the previous listen.
            let old = cause == nil ? ids.compactMap { oldWireIDs[$0]?.last } : []
            for id in ids where cause == nil { _ = oldWireIDs[id]?.popLast() }
            if cause != nil { refused.formUnion(wires(value["targetIds"])) }
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
