import TidemarkStore
public import TidemarkWords

/// Whether this device can store what the app writes and what the server says.
public enum StorageState: Hashable, Sendable {
    case available
    /// The last transaction failed. Reads are answered where they can be, writes are refused with
    /// this reason, and what the server says is not taken in; it is tried again until it succeeds.
    case failing(StorageFault)
}

/// Why the cache could not do its work.
public enum StorageFault: Hashable, Sendable {
    /// The disk, or the quota on it, is full. What was stored is intact.
    case full
    /// Another process holds the file.
    case locked
    /// The file is no database, or what it holds makes no sense.
    case damaged(detail: String)
    /// The disk failed, or the file cannot be reached.
    case unreadable(detail: String)
    /// The device is locked, and its system keeps the file from the app until it is unlocked. Nothing is
    /// lost and nothing has to be done: it is tried again.
    case deviceLocked
    /// The app could not give the key of its encrypted cache. Nothing is lost: it is asked again.
    case keyUnavailable(detail: String)
    /// The cache is encrypted, and the settings have no key. Nothing is lost.
    case keyMissing
    /// The cache is encrypted with another key. Nothing is lost.
    case wrongKey
    /// The settings have a key, and the cache is not encrypted. Nothing is lost.
    case notEncrypted
    /// An earlier version of the library encrypted the cache in another format. Nothing is lost.
    case olderEncryption
    /// A newer version of the library wrote the file.
    case newerVersion
    /// A fault of the library.
    case defect(detail: String)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// One sentence for a person.
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

    /// Nil for an error that says nothing of the storage.
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
        case .invalidStatement(let detail): self = .defect(detail: detail)
        }
    }
}

/// What a transaction of the cache is for: a test can make one kind of them fail.
package enum StorageStep: String, Hashable, Sendable, CaseIterable {
    case open, read
    case allocateTarget, releaseTarget, applyRemoteEvent, storeReplies
    case writeLocally, acknowledgeBatch, rejectBatch, discardRejected, keepWritePosition
    case handleUserChange, setRecord, collectGarbage, loadBundle, declareIndexes, saveReads, probe,
        close
}
