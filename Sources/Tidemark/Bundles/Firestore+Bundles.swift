public import Foundation

/// How far the load of a bundle has come.
public struct LoadBundleTaskProgress: Hashable, Sendable {
    public var documentsLoaded = 0
    /// As the bundle says of itself, like ``totalBytes``.
    public var totalDocuments = 0
    public var bytesLoaded: Int64 = 0
    public var totalBytes: Int64 = 0
    public var state = LoadBundleTaskState.inProgress
}

public enum LoadBundleTaskState: Hashable, Sendable { case error, inProgress, success }

extension Firestore {
    /// Puts a bundle's documents and query results into the cache, all or nothing. What the cache has
    /// in a newer version stays; a bundle that was loaded before, or is older than one of its id that
    /// was, changes nothing.
    ///
    /// - Parameters:
    ///   - data: The bundle, as a server's library made it: JSON objects, each after its length.
    ///   - progress: Told while the bundle is read, on the calling task.
    /// - Returns: The last progress, of the state `success`.
    /// - Throws: `invalidArgument` for what is no bundle of this database; nothing was loaded then.
    @discardableResult
    public func loadBundle(
        _ data: Data, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        var last = LoadBundleTaskProgress()
        do throws(FirestoreError) {
            let (bundle, read) = try BundleReader.read(Array(data), of: databaseID) { step in
                last = step
                progress?(step)
            }
            last = read
            let _: Bool = try await answer { engine.loadBundle(bundle, completion: $0) }
        } catch {
            last.state = .error
            progress?(last)
            throw error
        }
        last.state = .success
        progress?(last)
        return last
    }

    /// The query of this name in the bundles that were loaded; nil when there is none. Listening to it
    /// goes on from the bundle's result, so that only what changed since is read.
    public func getQuery(named name: String) async throws(FirestoreError) -> Query? {
        let source: [UInt8]? = try await answer { engine.namedQuery(name, completion: $0) }
        guard let source else { return nil }
        do {
            let element = try JSONDecoder().decode(BundleElementJSON.self, from: Data(source))
            guard let named = element.namedQuery else { return nil }
            return Query(self, try named.bundledQuery.query(of: databaseID))
        } catch {
            throw (error as? FirestoreError)
                ?? FirestoreError(SyncError.storage(.damaged(detail: "\(error)")))
        }
    }
}
