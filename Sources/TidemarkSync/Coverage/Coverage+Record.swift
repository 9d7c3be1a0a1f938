package import TidemarkModel

extension Coverage {
    private static let format: UInt8 = 1

    /// The bytes of a record that holds only a coverage.
    package var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        write(to: &writer)
        return writer.bytes
    }

    /// Returns nil if ``encoded`` did not make the bytes.
    package init?(encoded bytes: [UInt8]) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let coverage = Coverage(from: &reader), reader.isAtEnd
        else { return nil }
        self = coverage
    }
}

extension CoveragePosition {
    /// The item next to the position; nil for a position before or after all items of a time.
    package var path: DocumentPath? {
        switch place {
        case .before(let path), .after(let path): path
        case .start, .end: nil
        }
    }
}
