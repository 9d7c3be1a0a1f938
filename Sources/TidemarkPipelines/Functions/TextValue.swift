import TidemarkModel

/// A string or bytes, for functions that accept both. Units are code points of a string and bytes
/// of bytes.
struct TextValue {
    let bytes: [UInt8]
    let isString: Bool

    init(_ value: Value, in function: String) throws(Fault) {
        switch value {
        case .string(let text): (bytes, isString) = (Array(text.utf8), true)
        case .bytes(let bytes): (self.bytes, isString) = (bytes, false)
        default: throw .type(function, wanted: "a string or bytes", found: value)
        }
    }

    init(bytes: [UInt8], isString: Bool) { (self.bytes, self.isString) = (bytes, isString) }

    /// Returns another argument of the same call, which must be of the same type.
    func sibling(_ value: Value, in function: String) throws(Fault) -> TextValue {
        let other = try TextValue(value, in: function)
        if other.isString != isString {
            throw Fault("\(function) does not mix strings and bytes.")
        }
        return other
    }

    var value: Value { Self.value(bytes[...], isString: isString) }

    static func value(_ bytes: ArraySlice<UInt8>, isString: Bool) -> Value {
        isString ? .string(String(decoding: bytes, as: UTF8.self)) : .bytes(Array(bytes))
    }

    /// The units, each as its bytes.
    var units: [ArraySlice<UInt8>] {
        var result: [ArraySlice<UInt8>] = []
        var start = 0
        for index in bytes.indices where index > 0 && isStart(index) {
            result.append(bytes[start..<index])
            start = index
        }
        if !bytes.isEmpty { result.append(bytes[start...]) }
        return result
    }

    /// The number of units before an index.
    func count(before index: Int) -> Int { (0..<index).count { isStart($0) } }

    /// True if a unit begins at the index.
    private func isStart(_ index: Int) -> Bool { !isString || bytes[index] & 0xC0 != 0x80 }

    /// Returns the first index at or after `start` where the bytes of `other` begin.
    func index(of other: [UInt8], from start: Int = 0) -> Int? {
        if other.isEmpty { return start }
        var index = start
        while index + other.count <= bytes.count {
            if bytes[index] == other[0], bytes[index..<(index + other.count)].elementsEqual(other) {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Returns the parts between the occurrences of a delimiter that is not empty.
    func parts(at delimiter: [UInt8]) -> [Value] {
        var result: [Value] = []
        var start = 0
        while let index = index(of: delimiter, from: start) {
            result.append(Self.value(bytes[start..<index], isString: isString))
            start = index + delimiter.count
        }
        return result + [Self.value(bytes[start...], isString: isString)]
    }

    /// Returns the text without units of a set at its ends.
    func trimmed(_ isInSet: (ArraySlice<UInt8>) -> Bool, start: Bool, end: Bool) -> Value {
        var rest = units[...]
        if start { rest = rest.drop(while: isInSet) }
        if end { while let last = rest.last, isInSet(last) { rest.removeLast() } }
        return Self.value(Array(rest.joined())[...], isString: isString)
    }
}
