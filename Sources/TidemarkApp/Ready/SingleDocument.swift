public import Tidemark

/// The known state of a document.
public enum DocumentState<Value: Equatable & Sendable>: Equatable, Sendable {
    /// The device has no version that can be decoded, and the server has not answered yet.
    case unknown
    /// The server reports that the document does not exist.
    case missing
    case value(Value)

    public var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// A document as a value of a Swift type: the present value and each later value. Examples are
/// settings, a subscription, a report, the state of a call or a game.
///
/// The sequence is a listener on the document and nothing else. Costs one read at its begin and one
/// for each change; the device's version comes first. A write that leaves the value unchanged, a
/// confirmation, and a snapshot with other metadata produce no element. A version on the device
/// that cannot be decoded is no error before the server has answered: the server may have a newer
/// version.
public struct DocumentValues<Value: Decodable & Equatable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = DocumentState<Value>
    public typealias Failure = FirestoreError

    let reference: DocumentReference
    let decoder: Firestore.Decoder

    public struct AsyncIterator: AsyncIteratorProtocol {
        var snapshots: DocumentSnapshotsSequence.AsyncIterator
        let decoder: Firestore.Decoder
        var last: DocumentState<Value>?

        /// - Throws: The server's error, or a decoding error as `invalidArgument` with the field's
        ///   path; the sequence then ends.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(FirestoreError) -> DocumentState<Value>? {
            while let snapshot = try await snapshots.next(isolation: isolation) {
                let state = try state(of: snapshot)
                guard state != last else { continue }
                last = state
                return state
            }
            return nil
        }

        private func state(
            of snapshot: DocumentSnapshot
        ) throws(FirestoreError) -> DocumentState<Value> {
            do throws(FirestoreError) {
                return try DocumentState<Value>(snapshot, decoder)
            } catch {
                let metadata = snapshot.metadata
                guard metadata.isFromCache, !metadata.hasPendingWrites else { throw error }
                return last ?? .unknown
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            snapshots: reference.snapshots(includeMetadataChanges: true).makeAsyncIterator(),
            decoder: decoder)
    }
}

extension DocumentState where Value: Decodable {
    init(_ snapshot: DocumentSnapshot, _ decoder: Firestore.Decoder) throws(FirestoreError) {
        guard snapshot.exists else {
            self = snapshot.metadata.isFromCache && snapshot.readTime == nil ? .unknown : .missing
            return
        }
        do { self = .value(try snapshot.data(as: Value.self, decoder: decoder)) } catch {
            throw .invalidArgument(
                "\(snapshot.reference.path) is not a \(Value.self): \(error).")
        }
    }
}

extension DocumentReference {
    /// The document as a value, now and after each change of the value: ``DocumentValues``.
    public func values<Value: Decodable & Equatable & Sendable>(
        as type: Value.Type = Value.self, decoder: Firestore.Decoder = Firestore.Decoder()
    ) -> DocumentValues<Value> {
        DocumentValues(reference: self, decoder: decoder)
    }
}
