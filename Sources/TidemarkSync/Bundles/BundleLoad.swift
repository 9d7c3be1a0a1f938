package import TidemarkModel

/// A bundle that is being loaded, part by part, by whoever reads it.
///
/// Its documents are stored as they come. Their places in query results are stored too, under targets
/// that count as given up until the bundle is whole: what is left of a load that ended half way is
/// taken out a minute later, or a minute after the next launch.
package struct BundleLoad: Sendable {
    /// They are kept until the end, and each has a target.
    package static let maxQueries = 1_000

    let number: UInt64
    let id: String
    let createTime: Timestamp
    package var queries: [NamedQuery] = []
}

extension SyncEngine {
    /// - Parameter completion: Gets nil when the bundle, or a newer one of its id, was loaded before.
    package func beginBundle(
        _ id: String, createTime: Timestamp,
        completion: @escaping @Sendable (Result<BundleLoad?, SyncError>) -> Void
    ) {
        perform { core in
            completion(core.bundle { try core.local.bundles.begin(id, createTime) })
        }
    }

    /// Stores some documents of the bundle, in one transaction.
    package func store(
        _ documents: [BundledDocument], of load: BundleLoad,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.bundle {
                    core.refreshViews(try core.local.bundles.store(documents, of: load), nil)
                    return true
                })
        }
    }

    /// The bundle is whole: from now on its results count.
    package func finish(
        _ load: BundleLoad, completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.bundle {
                    try core.local.bundles.finish(load)
                    return true
                })
        }
    }

    /// Nothing more of the bundle will come.
    package func abandon(_ load: BundleLoad) {
        perform { core in
            core.local.bundles.abandon(load)
            core.scheduleSweep()
        }
    }
}

extension EngineCore {
    func bundle<Success>(_ body: () throws -> Success) -> Result<Success, SyncError> {
        if let writeRefusal { return .failure(writeRefusal) }
        do { return .success(try body()) } catch { return .failure(SyncError(storing: error)) }
    }
}
