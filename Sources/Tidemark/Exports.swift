// What an app sees with `import Tidemark` alone: values, paths and times of the model, and what reads
// and listens say of themselves. `Query` and `Filter` are this module's own types.
@_exported public import TidemarkModel
@_exported public import TidemarkSync
@_exported public import TidemarkWords

/// The query as a value, apart from any client: what a ``Query-class`` stands for.
public typealias QueryValue = TidemarkModel.Query

/// The condition as a value: what a ``Filter-struct`` stands for.
public typealias FilterValue = TidemarkModel.Filter
