import TidemarkModel

/// Paths in few bytes, to be taken from the front: each path is stored as its difference to the
/// previous path.
struct PathList {
    private var bytes: [UInt8] = []
    private var position = 0
    private var last: [UInt8] = []
    /// The last taken path, with which the next path may share its beginning.
    private var taken: [UInt8] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// The memory of the list in bytes.
    var size: Int { bytes.count }

    mutating func append(_ path: DocumentPath) {
        let text = Array(path.text.utf8)
        var shared = 0
        let most = min(text.count, last.count)
        while shared < most, text[shared] == last[shared] { shared += 1 }
        append(shared)
        append(text.count - shared)
        bytes += text[shared...]
        last = text
        count += 1
    }

    mutating func popFirst() -> DocumentPath? {
        if count == 0 { return nil }
        let shared = takeNumber()
        let length = takeNumber()
        taken.removeSubrange(shared...)
        taken += bytes[position..<(position + length)]
        position += length
        count -= 1
        return DocumentPath(unchecked: String(decoding: taken, as: UTF8.self))
    }

    private mutating func append(_ number: Int) {
        var rest = number
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func takeNumber() -> Int {
        var number = 0
        var shift = 0
        while true {
            let byte = bytes[position]
            position += 1
            number |= Int(byte & 127) << shift
            if byte < 128 { return number }
            shift += 7
        }
    }
}
