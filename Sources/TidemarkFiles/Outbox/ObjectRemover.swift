import Tidemark
import TidemarkResilience

/// Deletes an object whose document was refused, given up or deleted. The journal remembers the
/// object until Storage has confirmed the removal.
struct ObjectRemover: Sendable {
    let client: StorageClient
    let environment: FileEnvironment

    /// Retries for as long as it may succeed. A refusal leaves the object in the journal, and the
    /// next start asks again.
    ///
    /// - Returns: False if Storage refused.
    func remove(_ removal: ObjectRemoval, _ session: UserSession) async -> Bool {
        var backoff = Backoff(factor: 2, maximum: .seconds(120))
        var hasRefreshed = false
        while !Task.isCancelled {
            let answer = try? await client.remove(removal.object, of: session.user)
            switch answer?.status {
            case 200?, 204?, 404?:
                // A 200 without a body is what proxies make of 204.
                await end(removal, session)
                return true
            case 401? where !hasRefreshed:
                hasRefreshed = true
                if await client.tokens.replace() { continue }
                return false
            case nil: break
            default:
                guard answer?.isPassing == true else { return false }
            }
            let delay = backoff.next(jitter: environment.random())
            _ = try? await environment.clock.sleep(for: max(delay, .milliseconds(100)))
        }
        return false
    }

    private func end(_ removal: ObjectRemoval, _ session: UserSession) async {
        await withCheckedContinuation { continuation in
            session.endRemoval(removal.id) { _ in continuation.resume() }
        }
    }
}
