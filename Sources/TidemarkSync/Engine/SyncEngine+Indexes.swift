import TidemarkModel
package import TidemarkStore

// The cache's indexes in an app's hands. None is needed: they are made on their own when a query looks
// at far more than it is for.

extension SyncEngine {
    /// Whether indexes are made on their own, until the engine ends.
    package func setMakesIndexes(
        _ isAutomatic: Bool, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        onStore(completion) { try $0.local.store.setMakesWishedIndexes(isAutomatic) }
    }

    /// Makes these indexes, in idle moments; those that are there stay.
    package func declareIndexes(
        _ definitions: [IndexDefinition], completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        onStore(completion) { core in
            try core.local.write(.declareIndexes) { transaction in
                let table = transaction.documents(of: core.database)
                for definition in definitions {
                    try table.declareIndex(definition, fillsNow: false)
                }
            }
            core.wantIndexes()
        }
    }

    /// Deletes all indexes, those of feeds too. Costs a pass over their entries.
    package func deleteIndexes(completion: @escaping @Sendable (SyncError?) -> Void) {
        onStore(completion) { core in
            try core.local.write(.declareIndexes) { transaction in
                let table = transaction.documents(of: core.database)
                for index in try table.indexes() { try table.dropIndex(index.definition) }
            }
        }
    }

    /// Those there are now.
    package func indexes(
        completion: @escaping @Sendable (Result<[IndexState], SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.fromCache { local in
                    try local.read { try $0.documents(of: local.database).indexes() }
                })
        }
    }

    private func onStore(
        _ completion: @escaping @Sendable (SyncError?) -> Void,
        _ body: @escaping @Sendable (EngineCore) throws -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(refusal) }
            do {
                try body(core)
                completion(nil)
            } catch { completion(SyncError(storing: error)) }
        }
    }
}
