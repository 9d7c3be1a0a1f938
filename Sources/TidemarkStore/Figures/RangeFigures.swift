import TidemarkModel

/// The figures of one range of an index, or of a collection's names, as a scan has found them. They
/// are kept true like those of blocks, and answer the same question until the blocks are made.
final class RangeFigures {
    let source: FigureBlocks.Source
    let range: KeyRange
    private(set) var figures: Figures

    init(_ source: FigureBlocks.Source, range: KeyRange, figures: Figures) {
        self.source = source
        self.range = range
        self.figures = figures
    }

    /// True if this is the answer to a question.
    func answers(
        _ source: FigureBlocks.Source, range: KeyRange, fields: [FieldPath]
    ) -> Bool {
        self.source == source && figures.fields == fields && self.range == range
    }

    func remove(_ row: EncodedFields) { figures.remove(row) }
    func add(_ row: EncodedFields) { figures.add(row) }
}
