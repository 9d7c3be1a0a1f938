/// The reason why an operation of the store failed.
public enum StoreError: Error, Hashable, Sendable {
    /// The disk or its quota is full. The stored data is intact.
    case full
    /// Another process holds the file.
    case locked
    /// The file is damaged or is not a database.
    case corrupt(detail: String)
    /// The disk failed, or the file is not accessible.
    case unreadable(detail: String)
    /// The system denies access to the file until the device is unlocked. Nothing is lost.
    case protected
    /// The app could not provide the key of an encrypted file. Nothing is lost.
    case keyUnavailable(detail: String)
    /// The file is encrypted, and no key was given. Nothing is lost.
    case keyMissing
    /// The file is encrypted with another key. Nothing is lost.
    case wrongKey
    /// A key was given, but the file is not encrypted. Nothing is lost.
    case notEncrypted
    /// An earlier version of the library encrypted the file in another format. Nothing is lost.
    case olderEncryption
    /// A newer version of the library wrote the file.
    case newerSchema
    /// The system's SQLite has no full-text search (FTS5), which word indexes need.
    case noFullText
    /// A statement was invalid: a bug in this library, not in the caller's data.
    case invalidStatement(detail: String)

    /// The action that can resolve the error.
    public enum Recovery: Hashable, Sendable {
        case freeSpace, closeOtherProcess, unlockDevice, giveOtherKey, rebuild, checkDisk, update
        case report
    }

    public var recovery: Recovery {
        switch self {
        case .full: .freeSpace
        case .locked: .closeOtherProcess
        case .corrupt, .olderEncryption: .rebuild
        case .unreadable: .checkDisk
        case .protected, .keyUnavailable: .unlockDevice
        case .keyMissing, .wrongKey, .notEncrypted: .giveOtherKey
        case .newerSchema, .noFullText: .update
        case .invalidStatement: .report
        }
    }

    /// A message for the log. Messages for people are part of the cache's own errors.
    public var message: String {
        switch self {
        case .full: "There is no space left to store data."
        case .locked: "The data is in use by another process."
        case .corrupt: "The stored data is damaged."
        case .unreadable: "The stored data cannot be read or written."
        case .protected: "The stored data cannot be read until the device is unlocked."
        case .keyUnavailable: "The key of the stored data cannot be read right now."
        case .keyMissing: "The stored data is encrypted, and there is no key."
        case .wrongKey: "The stored data is encrypted with another key."
        case .notEncrypted: "The stored data is not encrypted."
        case .olderEncryption: "An older version encrypted the stored data in another format."
        case .newerSchema: "The stored data was written by a newer version."
        case .noFullText: "The system's SQLite has no full-text search (FTS5)."
        case .invalidStatement: "Something went wrong while storing data."
        }
    }
}

extension StoreError {
    /// Returns the error for a file whose encryption has another version than this library's.
    static func otherEncryption(_ version: UInt8) -> Self {
        version < SealedHeader.version ? .olderEncryption : .newerSchema
    }
}
