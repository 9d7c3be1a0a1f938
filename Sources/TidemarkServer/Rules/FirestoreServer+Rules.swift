import Synchronization

extension FirestoreServer {
    /// Puts rules in force, or none with nil: for every call from now on. Listens are asked about again,
    /// and those that the new rules refuse end with `permissionDenied`.
    public func setRules(_ settings: RulesSettings?) {
        core.withLock { $0.rules.set(settings) }
        executor.async { [self] in
            // A store that cannot be read refuses nobody: the next message of the listen meets it too.
            deliver((try? core.withLock { core throws in try core.judgeListensAgain() }) ?? [])
        }
    }
}
