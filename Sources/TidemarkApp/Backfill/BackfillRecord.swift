public import Tidemark

/// Keeps the coverage of backfills beside the documents it speaks of, under the name of a job.
public struct BackfillRecord: Sendable {
    private let engine: UserSession
    private let key: String
    /// Whose documents have to stay on the device with it.
    private let kept: QueryValue?

    /// - Parameters:
    ///   - firestore: The client whose cache keeps the record, for the user of this moment.
    ///   - name: The job's name.
    public init(_ firestore: Firestore, name: String) {
        engine = firestore.engine.session
        key = "backfill/" + name
        kept = nil
    }

    /// - Parameter kept: The query whose documents are covered: the cache keeps its collection from
    ///   the moment at which the coverage is asked for.
    init(_ firestore: Firestore, name: String, keeping kept: QueryValue) {
        engine = firestore.engine.session
        key = "backfill/" + name
        self.kept = kept
    }

    /// A record that cannot be read counts as nothing known: history is gone through again, and
    /// nothing is lost.
    public func coverage() async throws(BackfillFailure) -> Coverage {
        let engine = engine
        let key = key
        do throws(FirestoreError) {
            let bytes: [UInt8]? = try await answer { finish in
                engine.record(forKey: key, completion: finish)
            }
            let coverage = bytes.flatMap(Coverage.init(encoded:)) ?? Coverage()
            // Before the first part comes, or it might be gone before it is covered.
            if kept != nil { try await write(coverage) }
            return coverage
        } catch {
            throw BackfillFailure(error)
        }
    }

    public func save(_ coverage: Coverage) async throws(BackfillFailure) {
        do throws(FirestoreError) { try await write(coverage) } catch {
            throw BackfillFailure(error)
        }
    }

    private func write(_ coverage: Coverage) async throws(FirestoreError) {
        let (engine, key, kept) = (engine, key, kept)
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(coverage.encoded, forKey: key, keeping: kept) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }
}

extension BackfillFailure {
    /// What may pass by itself, and what will not.
    public init(_ error: FirestoreError) {
        switch error.code {
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .unauthenticated,
            .failedPrecondition, .outOfRange, .unimplemented, .dataLoss:
            self = .permanent(error.detail)
        default: self = .transient(error.detail)
        }
    }
}
