package import TidemarkModel

// What transactions of clients are made of: reads and commits that go to the server alone, past the
// cache and the queue.

extension SyncEngine {
    /// Reads documents from the server, as they are there: in the order of `paths`, nil for one that
    /// does not exist.
    package func lookUp(
        _ paths: [DocumentPath], tag: ReadTag = ReadTag(),
        completion:
            @escaping @Sendable (Result<[(Document?, readTime: Timestamp)], SyncError>) ->
            Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: paths))
            core.startCall(request, tag, deadline: nil) { replies, status in
                guard status.code == .ok else { return completion(.failure(core.error(status))) }
                var rows: [DocumentPath: (Document?, readTime: Timestamp)] = [:]
                for case .batchGetDocuments(let reply) in replies {
                    switch reply.row {
                    case .found(let document): rows[document.path] = (document, reply.readTime)
                    case .missing(let path): rows[path] = (nil, reply.readTime)
                    case nil: break
                    }
                }
                let found = paths.compactMap { rows[$0] }
                guard found.count == paths.count else {
                    let status = RPCStatus(.internal, "The server did not speak of all documents.")
                    return completion(.failure(.server(status)))
                }
                completion(.success(found))
            }
        }
    }

    /// Commits mutations on the server at once, or fails; nothing is queued.
    package func commitDirectly(
        _ mutations: [Mutation],
        completion: @escaping @Sendable (Result<Timestamp, SyncError>) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            let request = Request.commit(CommitRequest(mutations: mutations))
            let rule = RetryRule.write(isIdempotent: mutations.allSatisfy(\.isIdempotent))
            core.startCall(request, ReadTag(), rule, deadline: nil) { replies, status in
                guard status.code == .ok else { return completion(.failure(core.error(status))) }
                for case .commit(let reply) in replies {
                    return completion(.success(reply.commitTime))
                }
                let status = RPCStatus(.internal, "The server sent no result.")
                completion(.failure(.server(status)))
            }
        }
    }

    /// Whether the server is known to be out of reach, or is not to be asked.
    package func whetherOffline(completion: @escaping @Sendable (Bool) -> Void) {
        perform { completion(!$0.networkEnabled || $0.online.state == .offline) }
    }

    /// Calls back once a failed attempt may be followed by the next one.
    package func waitForRetry(
        _ backoff: inout RetryBackoff, completion: @escaping @Sendable () -> Void
    ) {
        let delay = backoff.next(
            elapsed: scheduler.elapsed, jitter: core.environment.random())
        _ = scheduler.schedule(.transactionRetry, after: delay, completion)
    }
}

/// How long a transaction waits between its attempts: as streams do.
package struct RetryBackoff: Sendable {
    private var backoff = StreamBackoff()

    package init() {
        // The first attempt is none of a row of failures: without it the second would follow at once.
        _ = backoff.nextDelay(elapsed: .zero, jitter: 0.5)
    }

    fileprivate mutating func next(elapsed: Duration, jitter: Double) -> Duration {
        backoff.nextDelay(elapsed: elapsed, jitter: jitter)
    }
}
