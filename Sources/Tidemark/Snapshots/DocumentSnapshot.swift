import Synchronization

/// Whether what a snapshot shows is the server's, and settled.
public struct SnapshotMetadata: Hashable, Sendable {
    /// It shows writes that the server has not acknowledged.
    public let hasPendingWrites: Bool
    /// It may be older than what the server has.
    public let isFromCache: Bool
}

/// A document at one moment, or the news that there is none.
public class DocumentSnapshot: @unchecked Sendable {
    // `@unchecked`: a class that can be inherited from cannot be checked; all its properties are
    // constants of sendable types or guarded by a mutex, and its one subclass is in this module.

    /// Made at the first access: most rows of a list are only shown.
    public var reference: DocumentReference {
        if let reference = madeReference.load() { return reference }
        return madeReference.storeIfNil(
            DocumentReference(
                origin.firestore, .success(documentPath), text: documentPath.text))
    }
    public let metadata: SnapshotMetadata
    /// Whether this is the server's state; if not, its age and why.
    public var freshness: Freshness { origin.freshness }
    /// The server's read time; nil if the server never confirmed this.
    public var readTime: Timestamp? { origin.readTime }
    package let documentPath: DocumentPath
    package let document: Document?
    private let origin: SnapshotOrigin
    private let madeReference = AtomicLazyReference<DocumentReference>()
    private let decoded = Mutex<MapValue?>(nil)
    /// Decoded at the first access, and kept: many rows of a long list are never looked into.
    package var fields: MapValue? {
        guard let document else { return nil }
        return decoded.withLock { decoded in
            if let decoded { return decoded }
            let fields = document.fields
            decoded = fields
            return fields
        }
    }

    init(_ origin: SnapshotOrigin, _ path: DocumentPath, _ view: ViewDocument?) {
        self.origin = origin
        documentPath = path
        document = view?.document
        metadata = SnapshotMetadata(
            hasPendingWrites: view?.hasPendingWrites ?? false,
            isFromCache: !origin.freshness.isFresh)
    }

    convenience init(
        _ reference: DocumentReference, _ path: DocumentPath, _ view: ViewDocument?,
        freshness: Freshness, readTime: Timestamp?
    ) {
        self.init(
            SnapshotOrigin(reference.firestore, freshness, readTime: readTime), path, view)
        _ = madeReference.storeIfNil(reference)
    }

    convenience init(_ reference: DocumentReference, _ path: DocumentPath, _ result: ReadResult) {
        self.init(
            reference, path, result.documents.first, freshness: result.freshness,
            readTime: result.freshness.readTime)
    }

    public var exists: Bool { document != nil }
    public var documentID: String { documentPath.id }
    /// When the document was created; nil if it does not exist, or only on this device.
    public var createTime: Timestamp? { document?.createTime }
    /// When the document was last changed; nil if it does not exist.
    public var updateTime: Timestamp? { document?.updateTime }

    /// All fields; nil when the document does not exist.
    ///
    /// Two names that differ only in how an accent is composed are two fields of Firestore and one key of
    /// a Swift dictionary: it holds the first one, in the order of their bytes, with its own value. The log
    /// names the other, which `get(_:)` of a `FieldPath` returns.
    public func data() -> [String: Any]? { data(with: .none) }

    public func data(with behavior: ServerTimestampBehavior) -> [String: Any]? {
        fields.map(export(behavior).any)
    }

    /// The value of one field; nil when there is none.
    public func get(_ field: some FieldName) -> Any? {
        get(field, serverTimestampBehavior: .none)
    }

    public func get(
        _ field: some FieldName, serverTimestampBehavior behavior: ServerTimestampBehavior
    ) -> Any? {
        guard let path = try? field.resolved() else { return nil }
        if path.isDocumentID { return reference }
        return fields?[path].map(export(behavior).any)
    }

    public subscript(field: some FieldName) -> Any? { self.get(field) }

    /// As ``get(_:)`` of a field's name that is held as `Any`; nil for what is neither a `String` nor a
    /// `FieldPath`.
    @_disfavoredOverload
    public func get(_ field: Any) -> Any? {
        guard let field = field as? any FieldName else { return nil }
        return get(field, serverTimestampBehavior: .none)
    }

    private func export(_ behavior: ServerTimestampBehavior) -> ValueExport {
        ValueExport(firestore: origin.firestore, serverTimestamps: behavior)
    }
}

/// A document that a query found.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
    // `@unchecked`: as ``DocumentSnapshot``; nothing is added.

    public override func data() -> [String: Any] { data(with: .none) }

    public override func data(with behavior: ServerTimestampBehavior) -> [String: Any] {
        super.data(with: behavior) ?? [:]
    }
}

/// What the documents of one answer have in common.
final class SnapshotOrigin: Sendable {
    let firestore: Firestore
    let freshness: Freshness
    let readTime: Timestamp?

    init(_ firestore: Firestore, _ freshness: Freshness, readTime: Timestamp?) {
        self.firestore = firestore
        self.freshness = freshness
        self.readTime = readTime
    }
}

extension DocumentSnapshot: Hashable {
    public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
        left.origin.firestore === right.origin.firestore
            && left.documentPath == right.documentPath && left.document == right.document
            && left.metadata == right.metadata
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(documentPath)
        hasher.combine(document?.updateTime)
    }
}

extension Freshness {
    package var readTime: Timestamp? {
        if case .fresh(let readTime) = self { readTime } else { nil }
    }

    /// How far to trust what a listener shows.
    init(_ view: ViewSnapshot, _ options: SnapshotListenOptions, now: Timestamp) {
        if let readTime = view.readTime, !view.isFromCache {
            self = .fresh(readTime: readTime)
        } else {
            self = .stale(
                age: view.readTime.map { max(.zero, now.duration(since: $0)) },
                reason: options.source == .cache
                    ? .askedForCache : view.staleReason ?? .offline)
        }
    }
}
