import Synchronization

/// A file as the value of a field. The field becomes a map when the file is copied.
package protocol FileValue: Sendable {
    /// Copies the file before its batch is journalled.
    ///
    /// - Parameter session: The user whose queue receives the batch.
    func stage(
        in firestore: Firestore, _ session: UserSession, document: DocumentPath, field: FieldPath
    ) async throws(FirestoreError) -> StagedFile
}

/// A file that a write attaches to a field. The file is staged when the write is journalled.
struct FileAttachment: Sendable {
    let document: DocumentPath
    let field: FieldPath
    let file: any FileValue
}

/// The files among the values of a call.
final class FieldFiles {
    private var files: [(field: FieldPath, file: any FileValue)] = []

    func add(_ file: any FileValue, at field: FieldPath) { files.append((field, file)) }

    func attachments(to document: DocumentPath) -> [FileAttachment] {
        files.map { FileAttachment(document: document, field: $0.field, file: $0.file) }
    }
}

/// A copied file, which is journalled with its batch or removed.
package struct StagedFile: Sendable {
    package var file: AttachedFile
    /// The value of the field.
    package var value: Value
    package var maxFiles: Int
    package var maxBytes: Int64
    /// Called once: true if the batch and the file are journalled, false if neither is.
    package var end: @Sendable (_ isJournalled: Bool) -> Void

    package init(
        file: AttachedFile, value: Value, maxFiles: Int, maxBytes: Int64,
        end: @escaping @Sendable (_ isJournalled: Bool) -> Void
    ) {
        self.file = file
        self.value = value
        self.maxFiles = maxFiles
        self.maxBytes = maxBytes
        self.end = end
    }
}

/// A reference that does not keep its object.
package final class WeakReference: Sendable {
    private struct Box {
        weak var object: (any AnyObject & Sendable)?
    }

    private let box = Mutex(Box())

    package var object: (any AnyObject & Sendable)? {
        get { box.withLock { $0.object } }
        set { box.withLock { $0.object = newValue } }
    }
}

/// Provides the token of ``FirestoreSettings/token``.
struct FixedToken: TokenProvider {
    let token: String

    func token(
        replacing refused: String?,
        receive: @escaping @Sendable (Result<String?, RPCStatus>) -> Void
    ) { receive(.success(token)) }
}

/// True once.
final class Decision: Sendable {
    private let isMade = Mutex(false)

    var isFirst: Bool {
        isMade.withLock { isMade in
            defer { isMade = true }
            return !isMade
        }
    }
}

/// Places the value of a file into the mutations of its batch.
enum FilePlacing {
    /// Sets the field in the last mutation that writes the document. Without one, adds a mutation
    /// that merges the field.
    static func place(
        _ value: Value, at field: FieldPath, of document: DocumentPath,
        in mutations: inout [Mutation]
    ) throws(FirestoreError) {
        guard let index = mutations.lastIndex(where: { $0.path == document }) else {
            guard mutations.count < WriteBatch.maxWrites else {
                throw .invalidArgument("A batch can have at most \(WriteBatch.maxWrites) writes.")
            }
            var fields = MapValue()
            fields[field] = value
            mutations.append(Mutation(path: document, .patch(fields, mask: [field])))
            return
        }
        switch mutations[index].operation {
        case .set(var fields):
            fields[field] = value
            mutations[index].operation = .set(fields)
        case .patch(var fields, var mask):
            if mask.contains(where: { field.isPrefix(of: $0) && $0 != field }) {
                throw .invalidArgument("\(field) of a file overlaps with a written field.")
            }
            fields[field] = value
            if !mask.contains(where: { $0.isPrefix(of: field) }) {
                mask = (mask + [field]).sorted()
            }
            mutations[index].operation = .patch(fields, mask: mask)
        case .delete, .verify:
            throw .invalidArgument("A file cannot be attached to a document that is deleted.")
        }
    }
}
