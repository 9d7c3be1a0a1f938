package import TidemarkModel

/// The rows of a pipeline while the documents of its sources change.
///
/// Figures by group are maintained by difference: a changed document costs the same, whatever the
/// number of documents. Everything else runs again over the kept documents, when rows are asked
/// for.
///
/// A value that has thrown must not be used again.
package struct LivePipeline: Sendable {
    /// A document that is new, changed or gone in one of the sources.
    package enum Change: Hashable, Sendable {
        case set(Document)
        case remove(DocumentPath)

        var path: DocumentPath {
            switch self {
            case .set(let document): document.path
            case .remove(let path): path
            }
        }
    }

    private enum Way: Sendable {
        case difference(LiveGroups)
        /// The documents by source.
        case again([[DocumentPath: Document]])
    }

    private let pipeline: ValidatedPipeline
    private var way: Way
    private var bytes = 0

    /// - Parameter sourceCount: The number of sources that report changes.
    /// - Precondition: The pipeline does not write.
    package init(_ pipeline: ValidatedPipeline, sourceCount: Int) {
        precondition(pipeline.write == nil, "a pipeline that writes has no live rows")
        self.pipeline = pipeline
        if sourceCount == 1, let groups = LiveGroups(pipeline) {
            way = .difference(groups)
        } else {
            way = .again(Array(repeating: [:], count: sourceCount))
        }
    }

    /// True if a change of one document never runs the pipeline over the others.
    package var isByDifference: Bool { if case .difference = way { true } else { false } }

    /// Takes the changes of one source.
    ///
    /// - Parameter changes: At most one for each document.
    /// - Throws: ``PipelineError``, for example `resourceExhausted` if the documents, or what is
    ///   kept of them, exceed ``PipelineLimits/bytes``.
    package mutating func step(
        _ changes: [Change], of source: Int, in context: PipelineContext
    ) throws(PipelineError) {
        switch way {
        case .difference(var groups):
            // The only reference is in `groups` during the step, so that nothing is copied.
            way = .again([])
            try groups.step(changes, in: context)
            way = .difference(groups)
        case .again(var documents):
            way = .again([])
            for change in changes {
                #if TIDEMARK_DEFECTS
                    if LiveDefect.planted == .documentsStay, case .remove = change { continue }
                    if LiveDefect.planted == .otherSourcesStand, source > 0,
                        !documents[source].isEmpty
                    {
                        continue
                    }
                #endif
                apply(
                    isNeeded(change, in: context) ? change : .remove(change.path),
                    to: &documents[source])
            }
            way = .again(documents)
            if bytes > context.limits.bytes { throw Self.tooLarge(context.limits.bytes) }
        }
    }

    /// False for a document without the words of the search behind the only source. A search then
    /// holds the documents that it may find, and runs again over these.
    private func isNeeded(_ change: Change, in context: PipelineContext) -> Bool {
        guard case .set(let document) = change, pipeline.sources.count == 1,
            let terms = pipeline.firstScan?.terms, !terms.isEmpty
        else { return true }
        let fields = context.searchedFields[ByteString(document.path.collectionID)]
        let words = DocumentWords(document.fields, in: fields)
        return terms.allSatisfy { words.count(of: $0) > 0 }
    }

    private mutating func apply(
        _ change: Change, to documents: inout [DocumentPath: Document]
    ) {
        let old: Document?
        switch change {
        case .set(let document):
            bytes += document.contents.bytes.count
            old = documents.updateValue(document, forKey: document.path)
        case .remove(let path): old = documents.removeValue(forKey: path)
        }
        bytes -= old?.contents.bytes.count ?? 0
    }

    static func tooLarge(_ bound: Int) -> PipelineError {
        PipelineError(
            .resourceExhausted,
            "A live pipeline needs more memory than it may use: \(bound) bytes.")
    }

    /// Returns the rows now.
    ///
    /// - Throws: ``PipelineError`` of the stages.
    package func rows(in context: PipelineContext) throws(PipelineError) -> [PipelineRow] {
        switch way {
        case .difference(let groups): return try groups.rows(in: context)
        case .again(let sources):
            var all: [DocumentPath: Document] = sources.first ?? [:]
            for documents in sources.dropFirst() {
                all.merge(documents) { old, new in
                    old.updateTime > new.updateTime ? old : new
                }
            }
            let run = pipeline.run(over: CollectedSource(Array(all.values)), context: context)
            var rows = BoundedRows(context.limits)
            while let row = try run.next() { try rows.add(row) }
            return rows.all
        }
    }
}
