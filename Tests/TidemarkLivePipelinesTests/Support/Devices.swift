import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTesting

/// A server of the Standard edition, a device under test, and another device.
struct Devices {
    let local: LocalFirestore
    let device: Firestore
    let other: Firestore

    init() throws {
        local = try LocalFirestore.start()
        device = try local.firestore(label: "device")
        other = try local.firestore(label: "other")
    }

    /// The reads that the server has billed to the device.
    var reads: Int { local.meter().first { $0.label == "device" }?.reads ?? 0 }

    /// Writes messages on the server: message `m7` is by person `p1`, has 7 as `n`, and every third
    /// one is read.
    func send(_ numbers: ClosedRange<Int>) async throws {
        for n in numbers {
            try await other.document("messages/m\(n)").setData([
                "n": n, "by": "p\(n % 3)", "isRead": n.isMultiple(of: 3), "size": n * 10,
            ])
        }
    }
}

extension Pipeline.Snapshot {
    /// Two fields of each row: a name and its number.
    func numbers(_ name: String, _ number: String) -> [String: Int] {
        let pairs = results.compactMap { row -> (String, Int)? in
            guard let key = row.data[name] as? String, let value = row.data[number] as? Int else {
                return nil
            }
            return (key, value)
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}

/// Takes snapshots of a sequence until one is as wanted.
func first(
    of snapshots: inout PipelineSnapshotsSequence.AsyncIterator,
    where isWanted: (Pipeline.Snapshot) -> Bool
) async throws -> Pipeline.Snapshot {
    while let snapshot = try await snapshots.next() {
        if isWanted(snapshot) { return snapshot }
    }
    throw CancellationError()
}
