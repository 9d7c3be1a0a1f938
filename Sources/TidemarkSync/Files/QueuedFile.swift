package import TidemarkModel

/// A file that belongs to a batch of writes. The batch is sent when the objects of its files exist.
///
/// The engine knows nothing of uploads. It keeps the row, and learns the state from the outbox.
package struct QueuedFile: Hashable, Sendable {
    package enum State: Int64, Hashable, Sendable {
        /// The object does not exist yet.
        case waiting = 0
        /// The object exists.
        case uploaded = 1
        /// The upload was refused for good. The batch waits until the app decides.
        case failed = 2
        /// The server refused the batch. The copy stays until the app retries or discards the
        /// batch.
        case rejected = 3
        /// The batch is done or gone, so the copy can be removed.
        case over = 4
        /// The document is sent first, and is not acknowledged yet. The upload begins after it.
        case behindDocument = 5
    }

    /// The number of the file. It is never reused.
    package var id: Int64
    /// The batch that the file belongs to.
    package var batch: Int64
    package var state: State
    package var file: AttachedFile
    /// The state of the upload, in the outbox's form; empty at first.
    package var upload: [UInt8]
}

/// A file as it is attached to a field of a document.
package struct AttachedFile: Hashable, Sendable {
    package var document: DocumentPath
    package var field: FieldPath
    package var object: ObjectName
    /// The size in bytes.
    package var size: Int64
    /// The facts that the outbox needs, in its own form.
    package var facts: [UInt8]
    /// The write that follows the file, if the document is sent first; nil if the file is.
    package var completion: Mutation?
    /// The rules about networks, as bits that only the outbox interprets.
    package var networkRules: Int64

    package init(
        document: DocumentPath, field: FieldPath, object: ObjectName, size: Int64, facts: [UInt8],
        completion: Mutation? = nil, networkRules: Int64 = 0
    ) {
        self.document = document
        self.field = field
        self.object = object
        self.size = size
        self.facts = facts
        self.completion = completion
        self.networkRules = networkRules
    }
}

/// A field of a document that a batch deletes, and the bucket of the object that it names.
package struct DeletedFile: Hashable, Sendable {
    package var document: DocumentPath
    package var field: FieldPath
    package var bucket: String

    package init(document: DocumentPath, field: FieldPath, bucket: String) {
        self.document = document
        self.field = field
        self.bucket = bucket
    }
}

/// The name of an object in Storage.
package struct ObjectName: Hashable, Sendable {
    package var bucket: String
    package var name: String

    package init(bucket: String, name: String) {
        self.bucket = bucket
        self.name = name
    }

    /// Returns a name that no other object has, for another upload of the same file. The number is
    /// placed before the ending of the name, so the ending still says what the file is.
    func renamed(_ number: Int64) -> ObjectName {
        let start = name.lastIndex(of: "/").map(name.index(after:)) ?? name.startIndex
        let dot = name[start...].lastIndex(of: ".") ?? name.endIndex
        return ObjectName(
            bucket: bucket, name: "\(name[..<dot])-\(number)\(name[dot...])")
    }
}

/// The files of one batch, and the bounds of all files that wait.
package struct AttachedFiles: Hashable, Sendable {
    package var files: [AttachedFile]
    /// The maximum number of one user's files.
    package var maxFiles: Int
    /// The maximum number of bytes of one user's files.
    package var maxBytes: Int64
    /// The fields whose objects are deleted when the batch is acknowledged.
    package var deleted: [DeletedFile]

    package init(
        _ files: [AttachedFile], maxFiles: Int, maxBytes: Int64, deleted: [DeletedFile] = []
    ) {
        self.files = files
        self.deleted = deleted
        self.maxFiles = maxFiles
        self.maxBytes = maxBytes
    }
}

/// An object that must be deleted, because its document was refused, discarded or deleted.
package struct ObjectRemoval: Hashable, Sendable {
    package var id: Int64
    package var object: ObjectName
}

/// The place of a batch in the order of sending.
enum BatchTurn: Hashable, Sendable {
    /// The batch has files whose objects do not all exist.
    case awaitsFiles
    /// The batch writes a document that an earlier batch without a turn writes, too.
    case isBehind
    /// The batch is sent after all batches with smaller numbers.
    case number(Int64)

    init(stored: Int64) {
        switch stored {
        case -1: self = .awaitsFiles
        case 0: self = .isBehind
        default: self = .number(stored)
        }
    }

    var stored: Int64 {
        switch self {
        case .awaitsFiles: -1
        case .isBehind: 0
        case .number(let number): number
        }
    }
}
