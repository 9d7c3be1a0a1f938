import Tidemark

extension TidemarkStack {
    /// Sends what waits, brings the user's feeds up to date, and goes on with a backfill.
    ///
    /// Of a launch in the background it reads first who is signed in; while the device cannot be read,
    /// nothing is done. Reads cost what they cost in the foreground.
    ///
    /// - Parameter backfill: Makes one, of the same jobs as those of the foreground, which goes on where
    ///   the last one was. It is stopped when the time is over. Nil for none.
    public func backgroundWork(
        backfill: (@Sendable () throws -> Backfill)? = nil
    ) -> BackgroundWork {
        var acts: [BackgroundPart: BackgroundWork.Act] = [
            .outbox: { [self] in
                guard await isReadable() else { return false }
                firestore.networkMayBeBack()
                return (try? await firestore.waitForPendingWrites()) != nil
            },
            .feeds: { [self] in
                guard await isReadable(), let feeds = try? feeds(of: accounts.user) else {
                    return false
                }
                return await areSynced(feeds)
            },
        ]
        if let backfill {
            acts[.backfill] = { [self] in
                guard await isReadable(), let backfill = try? backfill() else { return false }
                await follow(backfill)
                return await backfill.runToItsEnd()
            }
        }
        var work = BackgroundWork(acts)
        work.began = { [firestore] in firestore.resume() }
        work.ended = { [self] in await suspendInBackground(after: .zero)?.value }
        return work
    }

    /// Whether it is known who is signed in, or that nobody is.
    private func isReadable() async -> Bool {
        switch accounts.state {
        case .signedIn, .signedOut: true
        case .unknown, .locked:
            switch await accounts.load() {
            case .signedIn, .signedOut: true
            case .locked, .failed: false
            }
        }
    }
}

extension Backfill {
    /// Starts it and waits for its end: whether all of it is done. What waits for a network, for power or
    /// for another day is the end too. Stopped where its task is cancelled.
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
