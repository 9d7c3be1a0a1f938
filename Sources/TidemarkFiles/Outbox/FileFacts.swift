import Foundation
import Tidemark

/// The facts of a file that are journalled with it and do not change.
struct FileFacts: Hashable, Sendable, Codable {
    /// The name of the copy in the user's folder.
    var copy: String
    var digest: FileDigest
    var contentType: String
    var metadata: [String: String]

    func target(_ object: ObjectName) -> UploadTarget {
        UploadTarget(
            bucket: object.bucket, name: object.name, size: digest.size, md5: digest.md5,
            contentType: contentType, metadata: metadata)
    }
}

extension FileFacts {
    /// Returns the fields of a ``StoredFile``.
    func stored(as object: ObjectName) -> Value {
        .map([
            "path": .string(object.name), "size": .integer(digest.size),
            "type": .string(contentType), "hash": .string(digest.sha256),
        ])
    }

    /// The fields of a pending ``ArrivingFile``.
    var pending: Value {
        .map([
            "pending": .boolean(true), "size": .integer(digest.size), "type": .string(contentType),
        ])
    }
}

extension QueuedFile {
    var networkRules: NetworkRules { NetworkRules(stored: file.networkRules) }
}

extension UploadLanes.Candidate {
    /// - Parameter broken: The rules that the present network breaks.
    init(_ file: QueuedFile, _ broken: NetworkRules) {
        self.init(
            id: file.id, size: file.file.size,
            mayRun: file.networkRules.isDisjoint(with: broken))
    }
}

extension FilePolicy {
    /// Returns the write that follows a file; nil if the file is sent first. The write completes
    /// the field of a document that still exists.
    func completion(
        of file: AttachedFile, _ facts: FileFacts
    ) throws(FirestoreError) -> Mutation? {
        if !isDocumentFirst { return nil }
        var fields = MapValue()
        fields[file.field] = facts.stored(as: file.object)
        var transforms: [FieldTransform] = []
        if let changeTime {
            transforms.append(FieldTransform(try changeTime.resolved(), .serverTimestamp))
        }
        return Mutation(
            path: file.document, .patch(fields, mask: [file.field]), transforms: transforms,
            precondition: .exists(true))
    }
}

/// The state of an upload as the journal keeps it.
struct UploadState: Hashable, Sendable, Codable {
    var record = UploadRecord()
    /// The reason why the upload was given up; nil if it was not.
    var problem: UploadProblem?
}

/// The durable form of facts and states. Unknown keys of a later version are ignored.
enum FileCoding {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Strings, numbers and maps of them can always be encoded.
        return [UInt8](try! encoder.encode(value))
    }

    /// Returns nil for bytes that ``encode(_:)`` did not write.
    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    /// Returns the state of an upload. If the bytes cannot be read, the upload begins from the
    /// start: the object may exist, so it is looked up first.
    static func upload(_ bytes: [UInt8]) -> UploadState {
        if bytes.isEmpty { return UploadState() }
        return decode(UploadState.self, bytes)
            ?? UploadState(record: UploadRecord(mayExist: true))
    }
}
