/// The text of a rules file, and the starts of its lines.
public struct SourceText: Sendable {
    public let text: String
    let bytes: [UInt8]
    private let lineStarts: [Int]
    /// For each ``stride`` bytes, the number of characters that start before it. A line can have
    /// 256 KB, and the place of each tried `allow` is asked for.
    private let characters: [Int]
    private static let stride = 64

    public init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
        lineStarts =
            [0]
            + bytes.indices.lazy.filter { [bytes] in bytes[$0] == UInt8(ascii: "\n") }.map {
                $0 + 1
            }
        var characters: [Int] = []
        var count = 0
        for (index, byte) in bytes.enumerated() {
            if index % Self.stride == 0 { characters.append(count) }
            if Self.startsCharacter(byte) { count += 1 }
        }
        self.characters = characters
    }

    /// A UTF-8 continuation byte does not start a character.
    private static func startsCharacter(_ byte: UInt8) -> Bool { byte & 0xC0 != 0x80 }

    /// Returns the number of characters that start before an offset.
    private func characters(before offset: Int) -> Int {
        guard !characters.isEmpty else { return 0 }
        let block = min(offset / Self.stride, characters.count - 1)
        return characters[block]
            + bytes[block * Self.stride..<offset].count(where: Self.startsCharacter)
    }

    /// A position in the file, as production counts it: lines and columns from 1, columns in
    /// characters.
    public struct Position: Hashable, Sendable, Comparable, CustomStringConvertible {
        public let line: Int
        public let column: Int

        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }

        public static func < (left: Self, right: Self) -> Bool {
            (left.line, left.column) < (right.line, right.column)
        }

        public var description: String { "\(line):\(column)" }
    }

    /// - Parameter offset: The offset in bytes. An offset after the end counts as the end.
    public func position(at offset: Int) -> Position {
        let offset = min(max(offset, 0), bytes.count)
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        let column = characters(before: offset) - characters(before: lineStarts[low])
        return Position(line: low + 1, column: column + 1)
    }

    /// Returns the text of a range on one line.
    public func excerpt(_ range: Range<Int>) -> String {
        let range = range.clamped(to: 0..<bytes.count)
        let words = bytes[range].split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }
}
