import Synchronization

/// The plans of the pipelines that this device ran last, so that a pipeline that is made anew for
/// each run is checked once.
package final class PipelinePlans: Sendable {
    /// The maximum number of plans.
    private static let maxCount = 16
    /// The maximum number of expressions and the maximum bytes of a pipeline that is kept.
    private static let (maxExpressions, maxBytes) = (64, 4_096)

    /// The encoding of a pipeline. Pipelines of the same bytes have the same plan; `==` would take
    /// 0.0 and -0.0 for one constant, and two spellings of a letter for one field.
    package struct Key: Sendable {
        fileprivate let bytes: [UInt8]

        /// Returns nil for a large pipeline.
        package init?(_ pipeline: PipelineValue) {
            var rest = PipelinePlans.maxExpressions
            guard pipeline.takes(&rest) else { return nil }
            bytes = PipelineCodec.encode(pipeline)
            if bytes.count > PipelinePlans.maxBytes { return nil }
        }
    }

    /// The plans; the last one was used last.
    private let plans = Mutex<[(key: [UInt8], plan: any Sendable)]>([])

    package func plan(of key: Key) -> (any Sendable)? {
        plans.withLock { plans in
            guard let place = plans.lastIndex(where: { $0.key == key.bytes }) else { return nil }
            let found = plans.remove(at: place)
            plans.append(found)
            return found.plan
        }
    }

    /// Keeps a plan, and drops the one that was not used for the longest time.
    package func keep(_ plan: any Sendable, of key: Key) {
        plans.withLock { plans in
            if plans.count == Self.maxCount { plans.removeFirst() }
            plans.append((key.bytes, plan))
        }
    }
}

extension PipelineValue {
    /// Counts the expressions, so that deep ones need no deep stack.
    ///
    /// - Parameter rest: The number of expressions that are still allowed.
    /// - Returns: False if there are more.
    fileprivate func takes(_ rest: inout Int) -> Bool {
        for stage in stages {
            for argument in stage.arguments where !argument.takes(&rest) { return false }
            for option in stage.options where !option.value.takes(&rest) { return false }
        }
        return true
    }
}

extension PipelineValue.Expression {
    fileprivate func takes(_ rest: inout Int) -> Bool {
        rest -= 1
        if rest < 0 { return false }
        switch self {
        case .constant, .reference, .field, .variable: return true
        case .pipeline(let pipeline): return pipeline.takes(&rest)
        case .array(let elements):
            for element in elements where !element.takes(&rest) { return false }
        case .map(let entries):
            for entry in entries where !entry.value.takes(&rest) { return false }
        case .function(_, let arguments, let options):
            for argument in arguments where !argument.takes(&rest) { return false }
            for option in options where !option.value.takes(&rest) { return false }
        }
        return true
    }
}
