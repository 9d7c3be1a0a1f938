/// Why the store could not do its work.
public enum StoreError: Error, Hashable, Sendable {
    /// The disk, or the quota on it, is full. What was there is intact.
    case full
    /// Another process holds the file.
    case locked
    /// The file is no database, or is damaged.
    case corrupt(detail: String)
    /// The disk failed, or the file cannot be reached.
    case unreadable(detail: String)
    /// The system keeps the file from this app until the device is unlocked. Nothing is lost.
    case protected
    /// The app could not give the key of an encrypted file. Nothing is lost.
    case keyUnavailable(detail: String)
    /// The file is encrypted, and no key was given. Nothing is lost.
    case keyMissing
    /// The file is encrypted with another key. Nothing is lost.
    case wrongKey
    /// A key was given, and the file is not encrypted. Nothing is lost.
    case notEncrypted
    /// A newer version of the library wrote the file.
    case newerSchema
    /// A statement was wrong: a bug here, not in the caller's data.
    case invalidStatement(detail: String)

    /// What can be done about it.
    public enum Recovery: Hashable, Sendable {
        case freeSpace, closeOtherProcess, unlockDevice, giveOtherKey, rebuild, checkDisk, update
        case report
    }

    public var recovery: Recovery {
        switch self {
        case .full: .freeSpace
        case .locked: .closeOtherProcess
        case .corrupt: .rebuild
        case .unreadable: .checkDisk
        case .protected, .keyUnavailable: .unlockDevice
        case .keyMissing, .wrongKey, .notEncrypted: .giveOtherKey
        case .newerSchema: .update
        case .invalidStatement: .report
        }
    }

    /// For the log; what a person is told is the cache's own fault.
    public var message: String {
        switch self {
        case .full: "There is no space left to store data."
        case .locked: "The data is in use by another process."
        case .corrupt: "The stored data is damaged."
        case .unreadable: "The stored data cannot be read or written."
        case .protected: "The stored data cannot be read until the device is unlocked."
        case .keyUnavailable: "The key of the stored data cannot be read now."
        case .keyMissing: "The stored data is encrypted, and there is no key."
        case .wrongKey: "The stored data is encrypted with another key."
        case .notEncrypted: "The stored data is not encrypted."
        case .newerSchema: "The stored data was written by a newer version."
        case .invalidStatement: "Something went wrong while storing data."
        }
    }
}
