import TidemarkModel

/// A field and its text that every row of a query has. This test rejects most rows of a scan and
/// touches only bytes in place.
final class NeededText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private let key: UnsafeBufferPointer<UInt8>
    private let text: UnsafeBufferPointer<UInt8>

    /// Returns nil if the filter requires no text.
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
    /// The first text that a top-level field must have for the filter to match; nil if there is
    /// none.
    fileprivate var neededText: (FieldPath, [UInt8])? {
        switch self {
        case .text(let field, let text) where field.segments.count == 1 && !text.isEmpty:
            (field, text)
        case .all(let filters): filters.lazy.compactMap(\.neededText).first
        default: nil
        }
    }
}
