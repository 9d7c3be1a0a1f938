import TidemarkModel

/// Counts the parts of a pipeline. It ends at the first part that is nested too deep, so its
/// recursion is bounded. The compiler sees only pipelines that have passed.
struct DepthCheck {
    private let limits: PipelineLimits
    private var stages = 0
    private var expressions = 0

    static func check(_ pipeline: Pipeline, _ limits: PipelineLimits) throws(PipelineError) {
        var check = DepthCheck(limits: limits)
        try check.add(pipeline, depth: 1)
    }

    private init(limits: PipelineLimits) { self.limits = limits }

    private mutating func add(_ pipeline: Pipeline, depth: Int) throws(PipelineError) {
        stages += pipeline.stages.count
        if stages > limits.stages {
            throw .invalid("A pipeline may have at most \(limits.stages) stages.")
        }
        for stage in pipeline.stages {
            for argument in stage.arguments { try visit(argument, depth: depth) }
            for option in stage.options { try visit(option.value, depth: depth) }
        }
    }

    private mutating func visit(
        _ expression: Pipeline.Expression, depth: Int
    ) throws(PipelineError) {
        expressions += 1
        if expressions > limits.expressions {
            throw .invalid("A pipeline may have at most \(limits.expressions) expressions.")
        }
        if depth > limits.depth {
            throw .invalid(
                "The expressions of a pipeline may be nested at most \(limits.depth) levels deep.")
        }
        switch expression {
        case .constant, .reference, .field, .variable: return
        case .pipeline(let pipeline): try add(pipeline, depth: depth + 1)
        case .array(let elements): for element in elements { try visit(element, depth: depth + 1) }
        case .map(let entries):
            for entry in entries { try visit(entry.value, depth: depth + 1) }
        case .function(_, let arguments, let options):
            for argument in arguments { try visit(argument, depth: depth + 1) }
            for option in options { try visit(option.value, depth: depth + 1) }
        }
    }
}
