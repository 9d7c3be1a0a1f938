import Foundation
import TidemarkModel

/// A JSON value for an answer.
indirect enum JSONOutput: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A finite number: JSON has no other numbers, and protobuf writes the others as text.
    case number(Double)
    case text(String)
    case list([JSONOutput])
    case object([Member])
    /// A document's fields, as an object from names to values. The text is written from the stored
    /// bytes, because a tree would be most of the work.
    case fields(EncodedFields)

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONOutput

        init(_ name: String, _ value: JSONOutput) {
            self.name = name
            self.value = value
        }
    }

    /// Returns a document in REST's form: the same as ``ProtoJSONWriter`` produces from its
    /// message.
    static func document(_ document: Document, in database: DatabaseID) -> JSONOutput {
        var members = [Member("name", .text(document.path.name(in: database)))]
        if !document.contents.bytes.isEmpty {
            members.append(Member("fields", .fields(document.contents)))
        }
        members.append(Member("createTime", .text(document.createTime.rfc3339)))
        members.append(Member("updateTime", .text(document.updateTime.rfc3339)))
        return .object(members)
    }

    /// - Parameters:
    ///   - isPretty: True for a readable form with line breaks and sorted names.
    ///   - isSorted: True for sorted names on a single line.
    func data(isPretty: Bool = false, isSorted: Bool = false) -> Data {
        var text = JSONText(isPretty: isPretty, isSorted: isPretty || isSorted)
        text.write(self)
        return Data(text.bytes)
    }
}
