import Foundation
import TidemarkModel

/// JSON on its way out.
indirect enum JSONOutput: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Finite: JSON has no other numbers, and protobuf writes those as text.
    case number(Double)
    case text(String)
    case list([JSONOutput])
    case object([Member])
    /// What a document holds, as an object from names to values. It is written from the bytes that are
    /// stored: a tree of it would be most of the work.
    case fields(EncodedFields)

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONOutput

        init(_ name: String, _ value: JSONOutput) {
            self.name = name
            self.value = value
        }
    }

    /// A document as REST has it: what ``ProtoJSONWriter`` makes of its message.
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
    ///   - isPretty: Whether it is for people: over lines, names in order.
    ///   - isSorted: Whether names are in order on one line.
    func data(isPretty: Bool = false, isSorted: Bool = false) -> Data {
        var text = JSONText(isPretty: isPretty, isSorted: isPretty || isSorted)
        text.write(self)
        return Data(text.bytes)
    }
}
