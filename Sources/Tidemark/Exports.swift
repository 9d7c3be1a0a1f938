// Re-exports the types that an app sees with `import Tidemark` alone: values, paths and times of
// the model, and the descriptions of reads and listens. `Query` and `Filter` are this module's own
// types.
@_exported public import TidemarkModel
@_exported public import TidemarkSync
@_exported public import TidemarkWords

/// The query as a value, independent of a client. A ``Query-class`` holds such a value.
public typealias QueryValue = TidemarkModel.Query

/// The stages of a pipeline as a value. A ``Pipeline-class`` holds such a value.
public typealias PipelineValue = TidemarkModel.Pipeline

/// The condition as a value. A ``Filter-struct`` holds such a value.
public typealias FilterValue = TidemarkModel.Filter
