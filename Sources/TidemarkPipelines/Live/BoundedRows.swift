import TidemarkModel

/// The rows of a live pipeline, which are in memory together.
struct BoundedRows {
    private(set) var all: [PipelineRow] = []
    private var bytes = 0
    private let limits: PipelineLimits

    init(_ limits: PipelineLimits) { self.limits = limits }

    /// - Throws: ``PipelineError`` of code `resourceExhausted` beyond ``PipelineLimits/bytes``.
    mutating func add(_ row: PipelineRow) throws(PipelineError) {
        bytes += row.size(upTo: limits.valueBytes)
        if bytes > limits.bytes {
            throw PipelineError(
                .resourceExhausted,
                "The rows of a live pipeline have more than \(limits.bytes) bytes. Add a limit.")
        }
        all.append(row)
    }
}
