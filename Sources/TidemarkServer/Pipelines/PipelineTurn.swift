import TidemarkModel
import TidemarkPipelines

/// Bounds the time for which a pipeline holds the server.
///
/// A pipeline runs to its end in one turn of the core, and every other call waits for it. Its steps
/// alone would allow minutes, by a few nested arrays.
enum PipelineTurn {
    /// The maximum time of a pipeline. Production ends one after 60 s, and serves others beside it.
    static let longest = Duration.seconds(10)

    /// Returns a function that ends a pipeline which began now and runs for too long.
    static func limit(
        _ ticks: @escaping @Sendable () -> Duration
    ) -> @Sendable () -> PipelineError? {
        let end = ticks() + longest
        return {
            if ticks() < end { return nil }
            return PipelineError(
                .deadlineExceeded,
                "The pipeline ran for \(longest.components.seconds) seconds, while all other calls "
                    + "waited. Use a limit, fewer rows, or fewer nested arrays and subqueries.")
        }
    }
}
