import Synchronization

/// States whether the contents of a snapshot are the server's, and whether writes are pending.
public struct SnapshotMetadata: Hashable, Sendable {
    /// True if the snapshot shows writes that the server has not acknowledged.
    public let hasPendingWrites: Bool
    /// True if the server can have newer data.
    public let isFromCache: Bool
}

/// A document at one moment, or the information that it does not exist.
public class DocumentSnapshot: @unchecked Sendable {
    // `@unchecked`: the compiler cannot check a class that allows subclasses. All properties are
    // constants of sendable types or guarded by a mutex, and the only subclass is in this module.

    /// The document's reference. It is created at the first access, because most rows of a list are
    /// only shown.
    public var reference: DocumentReference {
        if let reference = madeReference.load() { return reference }
        return madeReference.storeIfNil(
            DocumentReference(
                origin.firestore, .success(documentPath), text: documentPath.text))
    }
    public let metadata: SnapshotMetadata
    /// States whether the document is the server's; if not, its age and the reason.
    public var freshness: Freshness { origin.freshness }
    /// The server's read time; nil if the server never confirmed the document.
    public var readTime: Timestamp? { origin.readTime }
    package let documentPath: DocumentPath
    package let document: Document?
    private let origin: SnapshotOrigin
    private let madeReference = AtomicLazyReference<DocumentReference>()
    private let decoded = Mutex<MapValue?>(nil)
    /// The decoded fields. They are decoded at the first access and kept, because many rows of a
    /// long list are never accessed.
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
        _ reference: DocumentReference, path: DocumentPath, view: ViewDocument?,
        freshness: Freshness, readTime: Timestamp?
    ) {
        self.init(
            SnapshotOrigin(reference.firestore, freshness, readTime: readTime), path, view)
        _ = madeReference.storeIfNil(reference)
    }

    convenience init(_ reference: DocumentReference, _ path: DocumentPath, _ result: ReadResult) {
        self.init(
            reference, path: path, view: result.documents.first, freshness: result.freshness,
            readTime: result.freshness.readTime)
    }

    public var exists: Bool { document != nil }
    public var documentID: String { documentPath.id }
    /// The time of creation; nil if the document does not exist, or exists only on this device.
    public var createTime: Timestamp? {
        // A document that was taken over from FirebaseFirestore has no stored time.
        document.flatMap { $0.createTime == .epoch ? nil : $0.createTime }
    }
    /// The time of the last change; nil if the document does not exist.
    public var updateTime: Timestamp? { document?.updateTime }

    /// Returns all fields; nil if the document does not exist.
    ///
    /// Two names that differ only in the composition of an accent are two fields of Firestore, but
    /// one key of a Swift dictionary. The dictionary holds the first name in the order of bytes,
    /// with its own value. The log names the other field, which `get(_:)` of a `FieldPath` returns;
    /// `fieldNames(in:)` lists both. To write such a document, use `updateData` with a `FieldPath`
    /// for each field: `setData` of this dictionary would remove the other field, and is refused.
    public func data() -> [String: Any]? { data(with: .none) }

    public func data(with behavior: ServerTimestampBehavior) -> [String: Any]? {
        fields.map(export(behavior).any)
    }

    /// Returns the names of all fields, or of the entries of a map, in the order of their bytes.
    ///
    /// Names that are one key of a Swift dictionary, see ``data()``, are all listed.
    ///
    /// - Parameter map: The path of a map; nil for the document itself.
    /// - Returns: The names; none when the document does not exist or has no such map.
    public func fieldNames(in map: FieldPath? = nil) -> [String] {
        guard let map else { return fields?.entries.map(\.key) ?? [] }
        guard let path = try? map.resolved(), case .map(let value)? = fields?[path] else {
            return []
        }
        return value.entries.map(\.key)
    }

    /// Returns the value of one field; nil if there is none.
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

    /// Returns the value like ``get(_:)``, for a field's name that is stored as `Any`; nil if
    /// `field` is not a `String` or a `FieldPath`.
    @_disfavoredOverload
    public func get(_ field: Any) -> Any? {
        guard let field = field as? any FieldName else { return nil }
        return get(field, serverTimestampBehavior: .none)
    }

    private func export(_ behavior: ServerTimestampBehavior) -> ValueExport {
        ValueExport(firestore: origin.firestore, serverTimestamps: behavior)
    }
}

/// A document that is a row of a query.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
    // `@unchecked`: for the same reasons as ``DocumentSnapshot``; this class adds no properties.

    public override func data() -> [String: Any] { data(with: .none) }

    public override func data(with behavior: ServerTimestampBehavior) -> [String: Any] {
        super.data(with: behavior) ?? [:]
    }
}

/// The data that all documents of one answer share.
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

    /// Returns the freshness of a listener's view.
    package init(_ view: ViewSnapshot, _ options: SnapshotListenOptions, now: Timestamp) {
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
