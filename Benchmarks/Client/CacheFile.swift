#if canImport(Glibc)
    import Glibc
#endif
import Foundation
import Tidemark
import TidemarkServer

/// A client's cache on disk, filled by a server as an app's is.
struct CacheFile {
    let workload: Workload
    let folder: URL

    private var settings: FirestoreSettings {
        FirestoreSettings(
            // Nobody is there: only the cache answers.
            host: "127.0.0.1:1", isSSLEnabled: false, cache: .directory(folder.path))
    }

    func open() throws -> Firestore {
        try Firestore(projectID: Workload.database.project, settings: settings)
    }

    /// Fetches the whole collection from a server in this process.
    func fill() async throws {
        let server = try FirestoreServer(.init())
        let context = CallContext(database: Workload.database)
        for start in stride(from: 0, to: workload.count, by: 500) {
            let numbers = start..<min(start + 500, workload.count)
            let mutations = numbers.map {
                Mutation(path: workload.path($0), .set(workload.fields($0)))
            }
            _ = try await server.commit(mutations, context)
        }
        let environment = SyncEnvironment(
            transport: server, scheduler: DispatchScheduler(),
            now: { Timestamp(seconds: 1_800_000_000, nanoseconds: 0) }, random: { 0.5 })
        let client = try Firestore(
            projectID: Workload.database.project, settings: settings, environment: environment)
        let all = try await client.collection(workload.collection)
            .getDocuments(source: .server, within: .seconds(300))
        precondition(all.count == workload.count)
        await client.terminate()
        server.close()
    }

    /// Makes the system forget what it holds of the files: the next read comes from the disk.
    ///
    /// - Returns: False where the system cannot be told.
    static func evict(_ folder: URL) -> Bool {
        #if canImport(Glibc)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for name in names {
                let file = Glibc.open(folder.appending(path: name).path, O_RDWR)
                guard file >= 0 else { return false }
                fsync(file)
                posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
                close(file)
            }
            return true
        #else
            return false
        #endif
    }
}
