import Foundation
import TidemarkModel
import TidemarkServer
import TidemarkSync

/// The folder of one world, gone with it: in memory where the system has such a place. Files begin as
/// copies of ones that have their tables already, as making those takes longer than a short history.
final class WorldFiles {
    let folder: String

    init() throws {
        folder = Self.root + "/tidemark-world-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static let root: String = {
        let shared = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: shared)
            ? shared : FileManager.default.temporaryDirectory.path
    }()

    func makeCache(_ name: String) throws -> String {
        let path = folder + "/" + name + ".sqlite"
        try Self.cacheTemplate.get().write(to: URL(fileURLWithPath: path))
        return path
    }

    func makeServerFolder() throws -> String {
        let path = folder + "/tidemark-server.sqlite"
        try Self.serverTemplate.get().write(to: URL(fileURLWithPath: path))
        return folder
    }

    private static let cacheTemplate = Result<Data, any Error> {
        let files = try WorldFiles()
        let path = files.folder + "/template.sqlite"
        let time = VirtualScheduler()
        let engine = try SyncEngine(
            .init(database: World.database, cacheFile: path),
            SyncEnvironment(
                transport: ScriptedTransport(), scheduler: time, now: { time.now },
                random: { 0.5 }))
        engine.terminate {}
        time.runUntilIdle()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static let serverTemplate = Result<Data, any Error> {
        let files = try WorldFiles()
        let time = VirtualScheduler()
        let process = WorldProcess(on: time)
        let server = try FirestoreServer(
            .init(dataDirectory: files.folder),
            environment: ServerEnvironment(
                now: { time.now }, randomBits: { 1 }, executor: process))
        server.close()
        return try Data(
            contentsOf: URL(fileURLWithPath: files.folder + "/tidemark-server.sqlite"))
    }
}
