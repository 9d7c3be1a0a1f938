/// The error for a record on disk that cannot be decoded: the file was damaged or written by other
/// code.
struct DamagedRecord: Error, Hashable, Sendable {
    let what: String
}
