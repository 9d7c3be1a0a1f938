/// A collection, and the query for all of its documents. Its creation reads nothing.
public final class CollectionReference: Query, @unchecked Sendable {
    // `@unchecked`: for the same reasons as ``Query``; the properties here are constants too.

    /// The path, such as `rooms/blue/messages`.
    public let path: String
    let resolved: Result<CollectionPath, FirestoreError>

    init(_ firestore: Firestore, _ resolved: Result<CollectionPath, FirestoreError>, text: String) {
        self.resolved = resolved
        path = text
        super.init(firestore, resolved.map { QueryValue(collection: $0) })
    }

    /// The last segment of ``path``.
    public var collectionID: String { (try? resolved.get().id) ?? "" }

    /// The document that holds the collection; nil for a collection at the root.
    public var parent: DocumentReference? {
        guard case .success(let path) = resolved, let parent = path.parent else { return nil }
        return DocumentReference(firestore, .success(parent), text: parent.text)
    }

    /// Returns a document of the collection. With an invalid path, every use of the reference
    /// throws.
    public func document(_ path: String) -> DocumentReference {
        guard case .failure(let error) = resolved else {
            return firestore.document(self.path + "/" + path)
        }
        return DocumentReference(firestore, .failure(error), text: self.path + "/" + path)
    }

    /// Returns a document with a new, unique id of 20 letters and digits.
    public func document() -> DocumentReference {
        document(Self.newID(firestore.environment.random))
    }

    /// Creates a document with a new id, and returns when the server has applied the write.
    @discardableResult
    public func addDocument(
        data: [String: Any], isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> DocumentReference {
        let document = document()
        try await document.setData(data)
        return document
    }

    /// Creates a document with a new id. The write is queued before this function returns, and
    /// `completion` is called on the listeners' queue after the server has applied it.
    @discardableResult
    public func addDocument(
        data: [String: Any], completion: (((any Error)?) -> Void)? = nil
    ) -> DocumentReference {
        let document = document()
        document.setData(data, completion: completion)
        return document
    }

    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// Returns an id with 62^20 possible values, or 119 bits, so two ids are never equal in
    /// practice.
    static func newID(_ random: () -> Double) -> String {
        String((0..<20).map { _ in letters[min(Int(random() * 62), 61)] })
    }
}
