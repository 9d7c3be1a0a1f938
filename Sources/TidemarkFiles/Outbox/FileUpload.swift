public import Foundation
import Tidemark

/// The order in which a file and its document are sent.
public struct FilePolicy: Hashable, Sendable {
    let isDocumentFirst: Bool
    let changeTime: String?

    /// The document is sent when the object exists. No reader sees a document without its file.
    public static let fileFirst = FilePolicy(isDocumentFirst: false, changeTime: nil)

    /// The document is sent at once, and says that its file is pending: readers show a placeholder
    /// (``ArrivingFile``). The upload begins when the document is acknowledged, so rules of Storage
    /// can read the document. When the object exists, a second write completes the field.
    public static let documentFirst = FilePolicy(isDocumentFirst: true, changeTime: nil)

    /// Like ``documentFirst``, for documents that carry the server's time of their last change.
    ///
    /// - Parameter changeTime: The field that the second write sets to the server's time, such as
    ///   `updatedAt`. Without it, a feed of another device does not learn that the file is there.
    public static func documentFirst(changeTime: String) -> FilePolicy {
        FilePolicy(isDocumentFirst: true, changeTime: changeTime)
    }
}

/// A file to send to Storage with a document.
///
/// ```swift
/// let receipt = try await message.enqueueSetData([
///     "text": "Look!", "photo": FileUpload(photo, contentType: "image/jpeg"),
/// ])
/// ```
///
/// The file is copied when the write is queued, and the copy is journalled with the write in one
/// step. From then on, the original is not needed. The write is sent when the object exists, or
/// before it: see ``FilePolicy``.
///
/// A file is a value of `enqueueSetData`, `enqueueUpdateData`, and of a batch that is committed by
/// an async form. The other forms refuse it, and so do arrays, transactions and queries.
public struct FileUpload: Hashable, Sendable {
    enum Source: Hashable, Sendable {
        case file(String)
        case data(Data)
    }

    let source: Source
    /// The MIME type of the object.
    public var contentType: String
    /// The folder of the object's name, such as `users/ann/photos`; nil for the path of the
    /// document. The name in it is made of an id that is used once, so rules and lists can go by
    /// the folder.
    public var folder: String?
    /// The custom metadata of the object; at most 8 KiB in all.
    public var metadata: [String: String] = [:]
    /// The order in which the file and its document are sent.
    public var policy: FilePolicy
    /// The networks on which the file may not be sent. They exclude no document: one that is sent
    /// first does not wait for another network.
    public var networks: NetworkRules
    private let fileEnding: String

    /// - Parameters:
    ///   - file: A regular file, which is read when the write is queued.
    ///   - folder: The folder of the object's name: empty for none, nil for the document's path.
    ///   - contentType: The MIME type; nil for the type of the file's ending.
    ///   - policy: The order in which the file and its document are sent.
    ///   - networks: The networks on which the file may not be sent.
    public init(
        _ file: URL, folder: String? = nil, contentType: String? = nil,
        policy: FilePolicy = .fileFirst, networks: NetworkRules = []
    ) {
        source = .file(file.path)
        self.policy = policy
        self.networks = networks
        self.folder = folder
        fileEnding = Self.ending(file.pathExtension)
        self.contentType = contentType ?? ContentTypes.type(ofEnding: fileEnding)
    }

    /// - Parameters:
    ///   - data: The bytes of the object. They are held in memory until the write is queued, so a
    ///     large object is better a file.
    ///   - folder: The folder of the object's name: empty for none, nil for the document's path.
    ///   - contentType: The MIME type.
    ///   - policy: The order in which the file and its document are sent.
    ///   - networks: The networks on which the file may not be sent.
    public init(
        data: Data, folder: String? = nil, contentType: String, policy: FilePolicy = .fileFirst,
        networks: NetworkRules = []
    ) {
        source = .data(data)
        self.policy = policy
        self.networks = networks
        self.folder = folder
        self.contentType = contentType
        fileEnding = ContentTypes.ending(ofType: contentType)
    }

    /// Endings that are no plain words are not taken into a name.
    private static func ending(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            ($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z"))
                || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
        }
        return isPlain && text.utf8.count <= 8 ? text.lowercased() : ""
    }

    /// Returns the name of the object: the folder, the id and the ending.
    func objectName(id: String, of document: DocumentPath) throws(FileProblem) -> String {
        let folder = self.folder ?? document.text
        let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
        let isFolder =
            folder.isEmpty
            || parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
        let name =
            (folder.isEmpty ? "" : folder + "/") + id + (fileEnding.isEmpty ? "" : "." + fileEnding)
        guard isFolder, name.utf8.count <= 1_024,
            !name.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }),
            !name.hasPrefix(".well-known/acme-challenge/")
        else { throw .invalidName }
        return name
    }
}

/// The MIME types of the endings that apps send most.
enum ContentTypes {
    private static let known: KeyValuePairs = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "heic": "image/heic",
        "gif": "image/gif", "webp": "image/webp", "mp4": "video/mp4", "mov": "video/quicktime",
        "m4a": "audio/mp4", "mp3": "audio/mpeg", "pdf": "application/pdf",
        "json": "application/json", "txt": "text/plain",
    ]

    static func type(ofEnding ending: String) -> String {
        known.first { $0.key == ending }?.value ?? "application/octet-stream"
    }

    static func ending(ofType type: String) -> String {
        known.first { $0.value == type }?.key ?? ""
    }
}
