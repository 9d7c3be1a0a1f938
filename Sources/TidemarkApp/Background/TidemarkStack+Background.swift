import Tidemark

extension TidemarkStack {
    /// Returns work that sends pending writes, updates the user's feeds, and continues a backfill.
    ///
    /// After a launch in the background, the work first reads the session; while the device cannot
    /// be read, it does nothing. Reads cost the same as in the foreground.
    ///
    /// - Parameter backfill: Creates a backfill with the same jobs as in the foreground, which
    ///   continues at the same place. It is stopped when the time is over. Nil for none.
    public func backgroundWork(
        backfill: (@Sendable () throws -> Backfill)? = nil
    ) -> BackgroundWork {
        var actions: [BackgroundPart: BackgroundWork.Action] = [
            .outbox: { [self] in
                guard await identity.isReadable() else { return false }
                firestore.networkMayBeBack()
                return (try? await firestore.waitForPendingWrites()) != nil
            },
            .feeds: { [self] in
                guard await identity.isReadable(), let feeds = try? feeds(of: identity.user) else {
                    return false
                }
                return await areSynced(feeds)
            },
        ]
        if let backfill {
            actions[.backfill] = { [self] in
                guard await identity.isReadable(), let backfill = try? backfill() else {
                    return false
                }
                await follow(backfill)
                return await backfill.runToItsEnd()
            }
        }
        var work = BackgroundWork(actions)
        work.began = { [firestore] in firestore.resume() }
        work.ended = { [self] in await suspendInBackground(after: .zero)?.value }
        return work
    }
}

extension Backfill {
    /// Starts the backfill and waits for its end. Returns true if all of it is done. The end is
    /// also reached if the backfill waits for a network, for power or for another day. Stops if its
    /// task is cancelled.
    func runToItsEnd() async -> Bool {
        do { try await start() } catch { return false }
        let isDone = await isComplete()
        stop()
        return isDone
    }

    private func isComplete() async -> Bool {
        for await state in progress {
            switch state.phase {
            case .complete: return true
            case .held(.yielding), .running, .tryingAgain: continue
            case .held, .failed: return false
            }
        }
        return false
    }
}
