public import Tidemark

/// Stores the coverage of backfills beside the covered documents, under the name of a job.
public struct BackfillRecord: Sendable {
    private let engine: UserSession
    private let key: String
    /// The query whose documents must stay on the device with the coverage.
    private let kept: QueryValue?

    /// - Parameters:
    ///   - firestore: The client whose cache stores the record, for the present user.
    ///   - name: The job's name.
    public init(_ firestore: Firestore, name: String) {
        engine = firestore.engine.session
        key = "backfill/" + name
        kept = nil
    }

    /// - Parameter kept: The query of the covered documents: the cache keeps its collection after
    ///   the coverage is first read.
    init(_ firestore: Firestore, name: String, keeping kept: QueryValue) {
        engine = firestore.engine.session
        key = "backfill/" + name
        self.kept = kept
    }

    /// Returns the stored coverage. An unreadable record counts as empty: the history is fetched
    /// again, and nothing is lost.
    public func coverage() async throws(BackfillFailure) -> Coverage {
        let engine = engine
        let key = key
        do throws(FirestoreError) {
            let bytes: [UInt8]? = try await answer { finish in
                engine.record(forKey: key, completion: finish)
            }
            let coverage = bytes.flatMap(Coverage.init(encoded:)) ?? Coverage()
            // The record is written before the first part arrives; otherwise the cache could remove
            // the part before it is covered.
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
    /// Classifies an error as transient or permanent.
    public init(_ error: FirestoreError) {
        switch error.code {
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .unauthenticated,
            .failedPrecondition, .outOfRange, .unimplemented, .dataLoss:
            self = .permanent(error.detail)
        default: self = .transient(error.detail)
        }
    }
}
