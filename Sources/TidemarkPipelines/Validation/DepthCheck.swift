import TidemarkModel

/// Counts the parts of a pipeline without recursion, because a deep pipeline would exhaust the
/// stack. The compiler, which is recursive, sees only pipelines that have passed.
struct DepthCheck {
    private let limits: PipelineLimits
    private var stages = 0
    private var expressions = 0
    private var rest: [(expression: Pipeline.Expression, depth: Int)] = []

    static func check(_ pipeline: Pipeline, _ limits: PipelineLimits) throws(PipelineError) {
        var check = DepthCheck(limits: limits)
        try check.add(pipeline, depth: 1)
        while let (expression, depth) = check.rest.popLast() {
            try check.visit(expression, depth: depth)
        }
    }

    private init(limits: PipelineLimits) { self.limits = limits }

    private mutating func add(_ pipeline: Pipeline, depth: Int) throws(PipelineError) {
        stages += pipeline.stages.count
        if stages > limits.stages {
            throw .invalid("A pipeline may have at most \(limits.stages) stages.")
        }
        for stage in pipeline.stages {
            for argument in stage.arguments { rest.append((argument, depth)) }
            for option in stage.options { rest.append((option.value, depth)) }
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
        case .array(let elements): for element in elements { rest.append((element, depth + 1)) }
        case .map(let entries): for entry in entries { rest.append((entry.value, depth + 1)) }
        case .function(_, let arguments, let options):
            for argument in arguments { rest.append((argument, depth + 1)) }
            for option in options { rest.append((option.value, depth + 1)) }
        }
    }
}
