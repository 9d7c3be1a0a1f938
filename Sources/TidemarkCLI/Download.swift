import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel
import TidemarkWire

/// Reads a collection into a cache, and prints the time and the memory. It shows that a result need
/// not fit into memory.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download", abstract: "Read a collection into a cache.", shouldDisplay: false)

    @Argument(help: "The collection.")
    var collection: String

    @Option(help: "The folder of the cache.")
    var cache: String

    @Option(help: "Write this many documents of 500 bytes into the collection, and read nothing.")
    var fill: Int?

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        if let fill { return try await write(fill) }
        // This makes the memory comparable with a phone's, where the system holds neither the code
        // of the start nor one heap per thread.
        ProcessMemory.settleHeap()
        let firestore = try database.firestore(cache: .directory(cache), label: "download")
        let before = Self.peakKilobytes ?? 0
        ProcessMemory.giveBackCode()
        let start = ContinuousClock.now
        let rows = try await firestore.collection(collection).download()
        let time = start.duration(to: .now) / .seconds(1)
        await firestore.terminate()
        print(
            """
            {"rows": \(rows.count), "isOfOneTime": \(rows.isOfOneTime), "seconds": \(time), \
            "peakKilobytesBefore": \(before), "peakKilobytes": \(Self.peakKilobytes ?? 0)}
            """)
    }

    /// Commits documents in batches without the queue of writes, because the queue would have to
    /// hold all of them.
    private func write(_ count: Int) async throws {
        let parts = (database.host ?? "127.0.0.1:8080").split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else {
            throw ValidationError("--host must be HOST:PORT.")
        }
        let transport = GRPCTransport(
            GRPCTransport.Endpoint(host: String(parts[0]), port: port, usesTLS: false))
        let context = CallContext(
            database: try DatabaseID(project: database.project, database: database.database))
        let text = String(repeating: "x", count: 440)
        for first in stride(from: 0, to: count, by: 500) {
            let mutations = try (first..<min(count, first + 500)).map { number in
                Mutation(
                    path: try DocumentPath("\(collection)/\(10_000_000 + number)"),
                    .set(["number": .integer(Int64(number)), "text": .string(text)]))
            }
            _ = try await transport.commit(mutations, context)
        }
        await transport.close()
    }

    /// The peak of the resident memory in KiB; nil if the system does not report it.
    private static var peakKilobytes: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return Int(line.split(separator: " ").dropFirst().first ?? "")
    }
}
