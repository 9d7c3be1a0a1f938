import Synchronization

/// The contents of a ``PipelineResult``, which its copies share.
///
/// The reference and the decoded fields are made at the first access and kept, because many rows of
/// a long list are never accessed.
final class ResultRow: Sendable {
    enum Contents: Sendable {
        case encoded(EncodedFields)
        case decoded(MapValue)
    }

    let firestore: Firestore
    let path: DocumentPath?
    let createTime: Timestamp?
    let updateTime: Timestamp?
    private let contents: Mutex<Contents>
    private let madeReference = AtomicLazyReference<DocumentReference>()

    init(
        _ firestore: Firestore, path: DocumentPath?, _ contents: Contents, createTime: Timestamp?,
        updateTime: Timestamp?
    ) {
        self.firestore = firestore
        self.path = path
        self.contents = Mutex(contents)
        self.createTime = createTime
        self.updateTime = updateTime
    }

    var reference: DocumentReference? {
        guard let path else { return nil }
        if let reference = madeReference.load() { return reference }
        return madeReference.storeIfNil(
            DocumentReference(firestore, .success(path), text: path.text))
    }

    var fields: MapValue {
        contents.withLock { contents in
            switch contents {
            case .decoded(let fields): return fields
            case .encoded(let encoded):
                let fields = encoded.decoded
                contents = .decoded(fields)
                return fields
            }
        }
    }
}
