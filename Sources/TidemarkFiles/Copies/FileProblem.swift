public import Tidemark

/// The reason why a file could not be queued. Nothing was stored then.
public enum FileProblem: Error, Hashable, Sendable {
    case missing
    case isFolder
    /// The file is a symbolic link, whose target can change.
    case isSymbolicLink
    /// The path names a device, a pipe or a socket.
    case isNoFile
    /// The system refuses to read the file, with the number of its error.
    case unreadable(code: Int32)
    /// The file grew, shrank or was written while it was copied. A file that is still being
    /// exported is complete later.
    case changedWhileCopied
    case tooLarge(limit: Int64)
    /// This device has no space for the copy.
    case diskFull
    /// The copy could not be stored, with the number of the system's error.
    case cannotStore(code: Int32)
    /// The folder is no valid part of an object's name, or the name would be too long.
    case invalidName

    /// The error for the caller of a write. It names no path.
    public var firestoreError: FirestoreError {
        switch self {
        case .missing: FirestoreError(.notFound, "The file to send does not exist.")
        case .isFolder: .invalidArgument("A folder cannot be sent.")
        case .isSymbolicLink:
            .invalidArgument("A symbolic link cannot be sent; resolve the link first.")
        case .isNoFile: .invalidArgument("Only regular files can be sent.")
        case .unreadable(let code):
            FirestoreError(.permissionDenied, "The file to send cannot be read (error \(code)).")
        case .changedWhileCopied:
            FirestoreError(.aborted, "The file to send changed while it was copied.")
        case .tooLarge(let limit): .invalidArgument("A file may have at most \(limit) bytes.")
        case .diskFull: FirestoreError(SyncError.storage(.full))
        case .cannotStore(let code):
            FirestoreError(
                SyncError.storage(
                    .unreadable(detail: "A file could not be copied (error \(code)).")))
        case .invalidName: .invalidArgument("The folder of a file is no valid object name.")
        }
    }
}
