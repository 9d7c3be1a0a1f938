import Foundation
import TidemarkModel
import TidemarkServer
import TidemarkSync
import TidemarkTesting

/// The folder of one world, deleted with it. The folder is in memory where the system supports
/// that. Files start as copies of templates that have their tables, because creating tables takes
/// longer than a short history.
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

    /// - Parameter hasUsers: True to make files for the users too.
    func makeCache(_ name: String, hasUsers: Bool) throws -> String {
        for (ending, data) in try Self.cacheTemplates.get() where hasUsers || ending == ".sqlite" {
            try data.write(to: URL(fileURLWithPath: folder + "/" + name + ending))
        }
        return folder + "/" + name + ".sqlite"
    }

    func makeServerFolder() throws -> String {
        let path = folder + "/tidemark-server.sqlite"
        try Self.serverTemplate.get().write(to: URL(fileURLWithPath: path))
        return folder
    }

    /// The template files by the ending of their names: one for no user, and one for each user.
    private static let cacheTemplates = Result<[String: Data], any Error> {
        let files = try WorldFiles()
        let path = files.folder + "/template.sqlite"
        for user in WorldUsers.all {
            let time = VirtualScheduler()
            let engine = try SyncEngine(
                .init(database: World.database, cacheFile: path, user: user),
                SyncEnvironment(
                    transport: ScriptedTransport(), scheduler: time, now: { time.now },
                    random: { 0.5 }))
            engine.terminate {}
            time.runUntilIdle()
        }
        var templates: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: files.folder)
        where name.hasSuffix(".sqlite") {
            let url = URL(fileURLWithPath: files.folder + "/" + name)
            templates[String(name.dropFirst("template".count))] = try Data(contentsOf: url)
        }
        return templates
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
