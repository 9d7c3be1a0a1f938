public import Tidemark

/// Keeps the coverage of backfills beside the documents it speaks of, under the name of a job.
public struct BackfillRecord: Sendable {
    private let engine: UserSession
    private let key: String

    /// - Parameter name: Of the job. Of the user in whose time this is made.
    public init(_ firestore: Firestore, name: String) {
        engine = firestore.engine.session
        key = "backfill/" + name
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
            return bytes.flatMap(Coverage.init(encoded:)) ?? Coverage()
        } catch {
            throw BackfillFailure(error)
        }
    }

    public func save(_ coverage: Coverage) async throws(BackfillFailure) {
        let engine = engine
        let key = key
        do throws(FirestoreError) {
            try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
                engine.setRecord(coverage.encoded, forKey: key) { error in
                    finish(error.map { .failure($0) } ?? .success(()))
                }
            }
        } catch {
            throw BackfillFailure(error)
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
