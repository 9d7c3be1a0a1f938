import TidemarkModel

/// A field and its text, that every row of a query has: most rows of a scan are refused by one, and finding
/// that out touches nothing but bytes that stay where they are.
final class NeededText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private let key: UnsafeBufferPointer<UInt8>
    private let text: UnsafeBufferPointer<UInt8>

    /// Nil where the filter needs none.
    init?(_ filter: CompiledFilter?) {
        guard let (field, text) = filter?.neededText else { return nil }
        let key = Array(field.segments[0].utf8)
        memory = .allocate(capacity: key.count + text.count)
        _ = memory.initialize(from: key + text)
        self.key = UnsafeBufferPointer(rebasing: memory[..<key.count])
        self.text = UnsafeBufferPointer(rebasing: memory[key.count...])
    }

    deinit { memory.deallocate() }

    func isMissing(in fields: FieldsInPlace) -> Bool { !fields.holds(text: text, at: key) }
}

extension CompiledFilter {
    /// The first text that must be there for the filter to match, of a field that is in no map.
    fileprivate var neededText: (FieldPath, [UInt8])? {
        switch self {
        case .text(let field, let text) where field.segments.count == 1 && !text.isEmpty:
            (field, text)
        case .all(let filters): filters.lazy.compactMap(\.neededText).first
        default: nil
        }
    }
}
