/// Names a field in a call: a `String` with dots between the names, or a ``FieldPath``, in which
/// names can contain any characters. No other types conform.
public protocol FieldName: Sendable {
    /// - Throws: `invalidArgument` if the value names no field.
    func resolved() throws(FirestoreError) -> FieldPath
}

extension String: FieldName {
    public func resolved() throws(FirestoreError) -> FieldPath {
        // FirebaseFirestore reserves these characters for its own syntax.
        if utf8.contains(where: { "~*/[]".utf8.contains($0) }) {
            throw .invalidArgument(
                "The field \"\(self)\" has one of the characters ~ * / [ ]: use a FieldPath.")
        }
        if utf8.contains(UInt8(ascii: "`")) {
            throw .invalidArgument(
                "The field \"\(self)\" has a backtick, which does not quote: use "
                    + "FieldPath([\"x\", \"y z\"]), which accepts every name.")
        }
        let segments = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return try FieldPath.checked(segments.map { String(Substring($0)) })
    }
}

extension FieldPath: FieldName {
    public func resolved() throws(FirestoreError) -> FieldPath { try Self.checked(segments) }

    /// Makes a path from names, in which dots have no meaning. With an empty name, the call that
    /// uses the path throws.
    public init(_ names: [String]) { self.init(unchecked: names.isEmpty ? [""] : names) }

    /// The document's own name as a field.
    public static func documentID() -> FieldPath { documentID }

    static func checked(_ segments: [String]) throws(FirestoreError) -> FieldPath {
        do throws(InvalidPath) { return try FieldPath(segments: segments) } catch {
            throw FirestoreError(error)
        }
    }
}
