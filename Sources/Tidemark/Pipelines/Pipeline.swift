package import Synchronization

/// Stages that read documents and change rows, in order. Its creation reads nothing.
///
/// A pipeline runs on the server, whose database must be of the Enterprise edition. With the
/// product `TidemarkLivePipelines` it also runs on this device, on every database: from the cache,
/// and live.
///
/// A stage returns a new pipeline and never throws. A mistake is thrown when the pipeline runs.
public class Pipeline: @unchecked Sendable {
    // `@unchecked`: the compiler cannot check a class that allows subclasses. All properties are
    // constants of sendable types or guarded by a mutex, and the only subclass is in this module.

    /// The client; nil for a pipeline that is only a part of others.
    package let firestore: Firestore?
    /// The stages as values, or the first mistake in them.
    package let value: Result<PipelineValue, FirestoreError>
    /// The tag under which the reads are counted.
    package let tag: ReadTag
    /// The plan of the first run on this device, for later runs: to make it takes as long as
    /// reading twenty rows. Its type belongs to the module that runs pipelines on the device.
    package let plan = Mutex<(any Sendable)?>(nil)

    init(
        _ firestore: Firestore?, _ value: Result<PipelineValue, FirestoreError>,
        tag: ReadTag = ReadTag()
    ) {
        self.firestore = firestore
        self.value = value
        self.tag = tag
    }

    /// Returns the pipeline with one more stage.
    func adding(_ stage: Result<PipelineValue.Stage, FirestoreError>) -> Pipeline {
        Pipeline(
            firestore,
            value.flatMap { value in
                stage.map { PipelineValue(stages: value.stages + [$0]) }
            }, tag: tag)
    }

    /// Returns the pipeline with one more stage, whose parts may throw a mistake.
    func adding(
        _ name: String,
        _ arguments: () throws(FirestoreError) -> [PipelineValue.Expression],
        options: () throws(FirestoreError) -> [PipelineValue.Entry] = { [] }
    ) -> Pipeline {
        adding(
            Result { () throws(FirestoreError) in
                PipelineValue.Stage(
                    name: name, arguments: try arguments(), options: try options())
            })
    }

    /// The same pipeline, whose reads are counted for a part of the app, a screen or a cause.
    public func counted(
        for label: String? = nil, screen: String? = nil, cause: ReadCause? = nil
    ) -> Pipeline {
        let tag = ReadTag(label: label, screen: screen, cause: cause).over(tag)
        return Pipeline(firestore, value, tag: tag)
    }

    /// Returns the stages and the client that runs them.
    ///
    /// - Throws: The mistake in the stages, or `invalidArgument` for a pipeline that is only a part
    ///   of others.
    package func runnable() throws(FirestoreError) -> (Firestore, PipelineValue) {
        let value = try value.get()
        guard let firestore else {
            throw .invalidArgument(
                """
                This pipeline was created without a database (e.g., as a subcollection pipeline) \
                and cannot be executed directly. Use it as a part of another pipeline.
                """)
        }
        return (firestore, value)
    }
}

/// The collection with a relative path below the document of each row around it, for subqueries.
///
/// ```swift
/// let reviews = Subcollection("reviews")
///     .aggregate([Field("rating").average().as("rating")])
///     .toScalarExpression()
/// ```
public final class Subcollection: Pipeline, @unchecked Sendable {
    // `@unchecked`: for the same reason as ``Pipeline-class``; there are no more properties.

    public init(_ path: String) {
        let stage = PipelineValue.Stage(
            name: "subcollection", arguments: [.constant(.string(path))])
        super.init(nil, .success(PipelineValue(stages: [stage])))
    }
}
