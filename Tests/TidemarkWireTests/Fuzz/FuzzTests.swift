import Foundation
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkServer
@testable import TidemarkWire

/// Sends random and damaged messages to every decoder, and decoded ones to the server. None may
/// crash it or be answered with INTERNAL, and memory may not grow.
///
/// `TIDEMARK_FUZZ_MESSAGES` is the number of messages (default 20,000). `TIDEMARK_FUZZ_SEED` is the
/// first seed (default 0).
@Suite(.ownThread) struct FuzzTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// The test runs in a separate process, because other tests in the same process also use
    /// memory. `make long` runs it with a million messages, which explains the long time limit.
    @Test(.timeLimit(.minutes(60)))
    func `no message breaks a decoder or the server, and memory does not grow`() async throws {
        #if os(Linux)
            if !OwnProcess.isThis {
                let (status, output) = try await OwnProcess.run("no message breaks a decoder")
                for line in output.split(separator: "\n") where line.hasPrefix("fuzz: ") {
                    print(line)
                }
                #expect(status == 0, "\(output.suffix(2_000))")
                #expect(output.contains("fuzz: memory"), "memory was not judged")
                return
            }
        #endif
        try play()
    }

    private func play() throws {
        let wanted = Self.number("TIDEMARK_FUZZ_MESSAGES") ?? 20_000
        var seed = UInt64(Self.number("TIDEMARK_FUZZ_SEED") ?? 0)
        var given = 0
        var memoryAtStart: Int?
        let start = ContinuousClock.now
        while given < wanted {
            given += try round(seed)
            // The first tenth of the messages fills caches.
            if given > wanted / 10, memoryAtStart == nil { memoryAtStart = residentMiB() }
            seed += 1
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print("fuzz: \(given) messages, \(Int(Double(given) / seconds)) a second")
        #if os(Linux)
            let first = try #require(memoryAtStart, "the system does not say how much it has")
            let last = try #require(residentMiB())
            print("fuzz: memory \(first) MiB after a tenth, \(last) MiB at the end")
            #expect(last < first + 64, "\(given) messages made memory grow")
        #endif
    }

    /// Plays a few thousand messages from one seed.
    private func round(_ seed: UInt64) throws -> Int {
        let server = try FuzzedServer(seed: seed)
        defer { server.server.close() }
        var generator = Generator(seed: seed)
        var mutator = Mutator(seed: seed)
        let names = Names(database)
        var given = 0
        for _ in 0..<8 {
            for request in generator.requests() {
                let encoded = try EncodedRequest(request, names)
                for _ in 0..<8 {
                    let bytes = mutator.mutated(encoded.bytes)
                    // Most messages keep the method that they were made for.
                    let isOther = mutator.below(8) == 0
                    server.call(isOther ? calls[mutator.below(calls.count)] : encoded.method, bytes)
                    given += 1
                }
            }
            for _ in 0..<16 {
                server.listen(mutator.mutated(ListenCoder(names).encode(generator.listenRequest())))
                server.write(mutator.mutated(WriteCoder(names).encode(generator.writeRequest())))
                given += 2
            }
            given += answers(&generator, &mutator, names) + parts(&generator, &mutator)
            server.call(calls[mutator.below(calls.count)], mutator.noise())
            try server.empties()
        }
        for failure in server.failures.prefix(3) {
            Issue.record("\(failure): again with TIDEMARK_FUZZ_SEED=\(seed)")
        }
        return given
    }

    private let calls = RPCMethod.allCases.filter { $0 != .listen && $0 != .write }

    /// Decodes random answers as a client, without a server.
    private func answers(
        _ generator: inout Generator, _ mutator: inout Mutator, _ names: Names
    ) -> Int {
        let replies = generator.replies()
        for (method, reply) in replies {
            _ = try? ReplyCoder(names).reply(
                to: method, mutator.mutated(ReplyCoder(names).encode(reply)))
        }
        _ = try? ListenCoder(names).response(
            mutator.mutated(ListenCoder(names).encode(generator.listenResponse())))
        _ = try? WriteCoder(names).response(
            mutator.mutated(WriteCoder(names).encode(generator.writeResponse())))
        return replies.count + 2
    }

    /// Decodes documents, tokens and files of indexes separately.
    private func parts(_ generator: inout Generator, _ mutator: inout Mutator) -> Int {
        let fields = generator.fields()
        let bytes = mutator.mutated(FieldsCodec.encode(fields))
        if let decoded = try? FieldsCodec.decode(bytes) {
            #expect((try? FieldsCodec.decode(FieldsCodec.encode(decoded))) == decoded)
        }
        let token = PageToken(fingerprint: 1, values: [generator.value()])
        let text = String(decoding: mutator.mutated(Array(token.text.utf8)), as: UTF8.self)
        _ = try? PageToken(text, of: 1)
        let position = ResumeToken(
            incarnation: 1, position: 2, readTime: Timestamp(microseconds: 3))
        if let read = ResumeToken(mutator.mutated(position.bytes)) {
            #expect(ResumeToken(read.bytes) == read)
        }
        let file = mutator.mutated(Array(Self.indexes.utf8))
        _ = try? IndexConfiguration(json: Data(file))
        return 4
    }

    private static let indexes = """
        {"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
            {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "arrayConfig": "CONTAINS"},
            {"fieldPath": "v", "vectorConfig": {"dimension": 3, "flat": {}}}]}],
         "fieldOverrides": [{"collectionGroup": "c", "fieldPath": "x", "ttl": true, "indexes": []}]}
        """

    /// The resident memory, or nil if the system does not report it.
    private func residentMiB() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
    }
}
