public import Tidemark

/// What is known of one document.
public enum DocumentState<Value: Equatable & Sendable>: Equatable, Sendable {
    /// The device holds nothing of it that can be decoded, and the server has not said yet whether there
    /// is one.
    case unknown
    /// The server says that there is no such document.
    case missing
    case value(Value)

    public var value: Value? { if case .value(let value) = self { value } else { nil } }
}

/// One document as a value of a Swift type, now and each time that value becomes another one: settings,
/// a subscription, a report, the state of a call or a game.
///
/// A listener on one document, and nothing beside it. Costs one read when it begins and one for each
/// change; what the device holds comes first. A write that leaves the value as it was, a confirmation,
/// and a snapshot with other metadata are not told. What the device holds and cannot decode is no error
/// before the server has answered: the server may have a newer one.
public struct DocumentValues<Value: Decodable & Equatable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = DocumentState<Value>
    public typealias Failure = FirestoreError

    let reference: DocumentReference
    let decoder: Firestore.Decoder

    public struct AsyncIterator: AsyncIteratorProtocol {
        var snapshots: DocumentSnapshotsSequence.AsyncIterator
        let decoder: Firestore.Decoder
        var last: DocumentState<Value>?

        /// - Throws: What the server answered, or `dataLoss`-free decoding errors as
        ///   `invalidArgument`, with the field's path; the sequence ends with it.
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
                "\(snapshot.reference.path) is no \(Value.self): \(error).")
        }
    }
}

extension DocumentReference {
    /// The document as a value, now and each time it becomes another one: ``DocumentValues``.
    public func values<Value: Decodable & Equatable & Sendable>(
        as type: Value.Type = Value.self, decoder: Firestore.Decoder = Firestore.Decoder()
    ) -> DocumentValues<Value> {
        DocumentValues(reference: self, decoder: decoder)
    }
}
