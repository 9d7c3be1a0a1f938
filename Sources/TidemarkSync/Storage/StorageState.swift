import TidemarkStore
public import TidemarkWords

/// The ability of this device to store the app's writes and the server's answers.
public enum StorageState: Hashable, Sendable {
    case available
    /// The last transaction failed. Reads are answered if possible, writes are refused with this
    /// reason, and the server's messages are not stored. The library tries again until it succeeds.
    case failing(StorageFault)
}

/// The reason why the cache could not do its work.
public enum StorageFault: Hashable, Sendable {
    /// The disk, or the quota on it, is full. The stored data is intact.
    case full
    /// Another process holds the file.
    case locked
    /// The file is not a database, or its content is invalid.
    case damaged(detail: String)
    /// The disk failed, or the file cannot be reached.
    case unreadable(detail: String)
    /// The device is locked, and its system blocks the file for the app until it is unlocked. No
    /// data is lost, and no action is needed: the library tries again.
    case deviceLocked
    /// The app could not provide the key of its encrypted cache. No data is lost: the library asks
    /// again.
    case keyUnavailable(detail: String)
    /// The cache is encrypted, and the settings have no key. No data is lost.
    case keyMissing
    /// The cache is encrypted with another key. No data is lost.
    case wrongKey
    /// The settings have a key, and the cache is not encrypted. No data is lost.
    case notEncrypted
    /// An earlier version of the library encrypted the cache in another format. Nothing is lost.
    case olderEncryption
    /// A newer version of the library wrote the file.
    case newerVersion
    /// The library has a defect.
    case defect(detail: String)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app.
    public var sentence: Sentence {
        switch self {
        case .full: Sentence("storage.full", "There is no space left to store data.")
        case .locked: Sentence("storage.locked", "The data is in use by another process.")
        case .damaged: Sentence("storage.damaged", "The stored data is damaged.")
        case .unreadable:
            Sentence("storage.unreadable", "The stored data cannot be read or written.")
        case .deviceLocked:
            Sentence("storage.deviceLocked", "The data can be read once the device is unlocked.")
        case .keyUnavailable:
            Sentence("storage.keyUnavailable", "The key of the stored data can't be read now.")
        case .keyMissing, .wrongKey:
            Sentence("storage.wrongKey", "The stored data is encrypted with another key.")
        case .notEncrypted:
            Sentence("storage.notEncrypted", "The stored data is not encrypted yet.")
        case .olderEncryption:
            Sentence(
                "storage.olderEncryption",
                "An older version encrypted the stored data in another format.")
        case .newerVersion:
            Sentence("storage.newerVersion", "The stored data was written by a newer version.")
        case .defect: Sentence("storage.defect", "Something went wrong while storing data.")
        }
    }

    /// Returns nil if the error does not concern the storage.
    init?(_ error: any Error) {
        switch error {
        case let error as StoreError: self.init(error)
        case let error as DamagedRecord:
            self = .damaged(detail: "A stored \(error.what) cannot be read.")
        default: return nil
        }
    }

    private init(_ error: StoreError) {
        switch error {
        case .full: self = .full
        case .locked: self = .locked
        case .corrupt(let detail): self = .damaged(detail: detail)
        case .unreadable(let detail): self = .unreadable(detail: detail)
        case .protected: self = .deviceLocked
        case .keyUnavailable(let detail): self = .keyUnavailable(detail: detail)
        case .keyMissing: self = .keyMissing
        case .wrongKey: self = .wrongKey
        case .notEncrypted: self = .notEncrypted
        case .olderEncryption: self = .olderEncryption
        case .newerSchema: self = .newerVersion
        case .noFullText: self = .defect(detail: error.message)
        case .invalidStatement(let detail): self = .defect(detail: detail)
        }
    }
}

/// The purpose of a transaction of the cache. A test can make the transactions of one purpose fail.
package enum StorageStep: String, Hashable, Sendable, CaseIterable {
    case open, read
    case allocateTarget, releaseTarget, applyRemoteEvent, storeReplies
    case writeLocally, acknowledgeBatch, rejectBatch, discardRejected, keepWritePosition
    case changeFiles
    case handleUserChange, setRecord, collectGarbage, loadBundle, declareIndexes, saveReads, probe,
        close
}
