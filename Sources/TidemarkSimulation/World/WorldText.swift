import TidemarkModel

// Short texts for a world's log, which has many entries.

extension MapValue {
    var worldText: String {
        entries.map { "\($0.key)=\($0.value.worldText)" }.joined(separator: " ")
    }
}

extension Value {
    fileprivate var worldText: String {
        switch self {
        case .integer(let number): "\(number)"
        case .string(let text): text
        case .array(let values): "[\(values.map(\.worldText).joined(separator: ","))]"
        default: "\(self)"
        }
    }
}

extension Document {
    var worldText: String { "\(path.id)(\(fields.worldText))" }
}

extension Timestamp {
    /// The seconds since the start of the world. All worlds start at the same time.
    var worldText: String { "\(Double(microseconds - 1_700_000_000_000_000) / 1_000_000)" }
}

extension Mutation {
    var worldText: String {
        let condition = precondition == .none ? "" : " if \(precondition)"
        let change =
            switch operation {
            case .set(let fields): "set \(fields.worldText)"
            case .patch(let fields, _): "patch \(fields.worldText)"
            case .delete: "delete"
            case .verify: "verify"
            }
        let sums = transforms.map { " \($0.field.encoded) \($0.operation)" }.joined()
        return "\(path.text) \(change)\(sums)\(condition)"
    }
}
