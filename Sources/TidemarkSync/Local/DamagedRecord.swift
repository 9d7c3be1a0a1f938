/// A record on disk that cannot be read: the file was damaged, or written by something else.
struct DamagedRecord: Error, Hashable, Sendable {
    let what: String
}
