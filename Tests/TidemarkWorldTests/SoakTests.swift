import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkSimulation
import TidemarkStore
import TidemarkTesting

@testable import TidemarkSync

/// Plays an hour of three apps within seconds, on a virtual clock. The apps write, change their
/// listeners and lose their connections, and their caches are kept within their size.
///
/// `TIDEMARK_SOAK_SECONDS=36000` plays ten hours. Only if this variable is set does the test expect
/// constant memory, because other tests of the same process also use memory.
@Suite(.oneCore) struct SoakTests {
    private static let variables = ProcessInfo.processInfo.environment
    private static let seconds = variables["TIDEMARK_SOAK_SECONDS"].flatMap { Int($0) } ?? 3_600

    @Test func `an hour leaves memory and files as they were`() throws {
        var settings = WorldSettings(seed: 1)
        settings.cacheSize = 400_000
        settings.history = .seconds(120)
        let world = try World(settings)
        defer { world.end() }
        let soak = try Soak(world)
        let total = Self.seconds
        var early: SoakFigures?
        for second in 1...total {
            try soak.second(second)
            guard second.isMultiple(of: total / 6) else { continue }
            let figures = soak.figures()
            print("soak: \(second) s: \(figures)")
            if second == total / 6 * 2 { early = figures }
        }
        let (start, end) = (try #require(early), soak.figures())
        #expect(end.snapshots > total, "the listeners heard little")
        #expect(end.collected > 0, "nothing was ever collected")
        // A collection starts above the limit, and a cache grows between two collections.
        #expect(end.used < 3 * settings.cacheSize, "\(end)")
        #expect(end.files < start.files * 5 / 4 + (4 << 20), "\(start), then \(end)")
        if Self.variables["TIDEMARK_SOAK_SECONDS"] != nil {
            #expect(end.memory < start.memory + (16 << 20), "\(start), then \(end)")
        }
    }
}

struct SoakFigures: CustomStringConvertible {
    /// The resident memory of the process.
    var memory: Int64
    /// The size of all files of the three caches and the server.
    var files: Int64
    /// The size of the pages in use in the largest cache, in bytes.
    var used: Int64
    var snapshots: Int
    /// The number of times that a cache's pages in use decreased.
    var collected: Int

    var description: String {
        "memory \(memory >> 10) KiB, files \(files >> 10) KiB, cache \(used >> 10) KiB, "
            + "\(snapshots) snapshots, \(collected) collections"
    }
}

private final class Soak {
    private let world: World
    private var dice = SeededRandom(seed: 7)
    private let heard = SoakCount()
    private var listens: [any CancellableCall] = []
    private var lastUsed: [Int64]
    private var collected = 0

    /// Creates 2,000 documents of about 500 bytes in 100 groups.
    init(_ world: World) throws {
        self.world = world
        lastUsed = world.clients.map { _ in 0 }
        for start in stride(from: 0, to: 2_000, by: 250) {
            let mutations = (start..<start + 250).map { mutation($0) }
            guard case .success = world.server.commit(mutations, in: World.database) else {
                throw WorldViolation(.convergence, "the server takes nothing")
            }
        }
    }

    private func mutation(_ index: Int) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: "soak/d\(index)"),
            .set([
                "g": .integer(Int64(index % 100)), "n": .integer(Int64(dice.roll(1_000_000))),
                "text": .string(String(repeating: "abcdefghij", count: 45)),
            ]))
    }

    func second(_ second: Int) throws {
        for client in world.clients {
            client.engine?.write([mutation(dice.roll(2_000))]) { _ in }
            if second.isMultiple(of: 4) { listen(client) }
        }
        if second.isMultiple(of: 45) { dice.pick(world.clients).link?.breakAll(isNoticed: false) }
        if second.isMultiple(of: 400) {
            world.server.stop()
            world.network.serverGone()
            try world.server.start()
        }
        world.time.advance(by: .seconds(1))
        look()
    }

    private func listen(_ client: WorldClient) {
        let group = Value.integer(Int64(dice.roll(100)))
        let query = Query(
            collectionID: "soak", filter: .field(FieldPath(name: "g"), .equal, group))
        let heard = heard
        guard let engine = client.engine else { return }
        listens.append(engine.listen(query) { _ in heard.count += 1 })
        if listens.count > 12 { listens.removeFirst().cancel() }
    }

    private func used() -> [Int64] {
        world.clients.map { client in
            client.engine.flatMap { try? $0.core.local.garbage.usedBytes() } ?? 0
        }
    }

    private func look() {
        let used = used()
        for (index, bytes) in used.enumerated() where bytes < lastUsed[index] { collected += 1 }
        lastUsed = used
    }

    func figures() -> SoakFigures {
        let folder = URL(fileURLWithPath: world.clients[0].cacheFile).deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let sizes = names.map { name in
            let path = folder.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        }
        return SoakFigures(
            memory: Self.resident, files: sizes.reduce(0, +), used: used().max() ?? 0,
            snapshots: heard.count, collected: collected)
    }

    /// The resident memory in bytes, or 0 if the system does not report it.
    private static var resident: Int64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
            return 0
        }
        let words = text.split(separator: " ")
        return words.count > 1 ? (Int64(words[1]) ?? 0) * 4_096 : 0
    }
}

// @unchecked: one thread runs the whole world.
private final class SoakCount: @unchecked Sendable { var count = 0 }
