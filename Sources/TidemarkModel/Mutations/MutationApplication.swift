extension Mutation {
    /// The result of applying a mutation to a document.
    public struct Outcome: Hashable, Sendable {
        /// The fields after the mutation; nil if the document no longer exists.
        public var fields: MapValue?
        /// The result of each transform.
        public var transformResults: [Value]
    }

    /// Applies the change without checking the precondition. The caller has checked it.
    ///
    /// - Parameters:
    ///   - current: The document's fields; nil if the document does not exist.
    ///   - serverTimestamp: Returns the value of a server timestamp from the field's previous
    ///     value: the server's time on a server, a pending timestamp in a client's local view.
    public func applied(
        to current: MapValue?, serverTimestamp: (_ previous: Value?) -> Value
    ) -> Outcome {
        var fields: MapValue
        switch operation {
        case .verify: return Outcome(fields: current, transformResults: [])
        case .delete: return Outcome(fields: nil, transformResults: [])
        case .set(let new): fields = new
        case .patch(let new, let mask):
            fields = current ?? MapValue()
            for path in mask { fields[path] = new[path] }
        }
        var results: [Value] = []
        for transform in transforms {
            let previous = fields[transform.field]
            let (value, result) = transform.operation.applied(
                to: previous, serverTimestamp: serverTimestamp)
            fields[transform.field] = value
            results.append(result)
        }
        return Outcome(fields: fields, transformResults: results)
    }
}

extension FieldTransform.Operation {
    /// - Returns: The field's new value, and the result that the server reports.
    func applied(
        to previous: Value?, serverTimestamp: (Value?) -> Value
    ) -> (value: Value, result: Value) {
        switch self {
        case .serverTimestamp:
            let value = serverTimestamp(previous)
            return (value, value)
        case .increment(let operand):
            let value = Self.sum(previous, operand)
            return (value, value)
        case .maximum(let operand):
            let value = Self.extreme(previous, operand, keepsPreviousIf: .descending)
            return (value, value)
        case .minimum(let operand):
            let value = Self.extreme(previous, operand, keepsPreviousIf: .ascending)
            return (value, value)
        case .arrayUnion(let elements):
            var array = Self.array(previous)
            var seen = Set(array.map(EquivalentValue.init))
            for element in elements where seen.insert(EquivalentValue(value: element)).inserted {
                array.append(element)
            }
            return (.array(array), .null)
        case .arrayRemove(let elements):
            let removed = Set(elements.map(EquivalentValue.init))
            let array = Self.array(previous).filter {
                !removed.contains(EquivalentValue(value: $0))
            }
            return (.array(array), .null)
        }
    }

    private static func array(_ value: Value?) -> [Value] {
        if case .array(let elements)? = value { elements } else { [] }
    }

    /// Adds numbers: integers saturate, a double makes the sum a double, and any other previous
    /// value counts as missing.
    private static func sum(_ previous: Value?, _ operand: Value) -> Value {
        switch (previous, operand) {
        case (.integer(let a)?, .integer(let b)):
            let (sum, overflow) = a.addingReportingOverflow(b)
            return .integer(overflow ? (b < 0 ? .min : .max) : sum)
        case (.integer(let a)?, .double(let b)): return .double(Double(a) + b)
        case (.double(let a)?, .integer(let b)): return .double(a + Double(b))
        case (.double(let a)?, .double(let b)): return .double(a + b)
        default: return operand
        }
    }

    /// Returns the greater or smaller number. Equal numbers keep the stored value and so its type.
    /// NaN wins.
    private static func extreme(
        _ previous: Value?, _ operand: Value, keepsPreviousIf side: Comparison
    ) -> Value {
        guard let previous, previous.isNumber else { return operand }
        if previous.isNaN { return previous }
        if operand.isNaN { return operand }
        let order = Value.compare(previous, operand)
        return order == .equal || order == side ? previous : operand
    }
}

extension Precondition {
    /// Returns true if the precondition holds for a document of this version; nil means a missing
    /// document.
    public func holds(for updateTime: Timestamp?) -> Bool {
        switch self {
        case .none: true
        case .exists(let expected): (updateTime != nil) == expected
        case .updateTime(let expected): updateTime == expected
        }
    }
}
