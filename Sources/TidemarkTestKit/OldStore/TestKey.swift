/// Keys and messages of FirebaseFirestore's store, written here apart from the reader.
package enum TestKey {
    package static func table(_ name: String) -> [UInt8] { [0x85] + text(name) }

    /// In the order of the texts: a zero and a 255 take two bytes, and zero and one end the text.
    package static func text(_ text: String) -> [UInt8] {
        text.utf8.flatMap { $0 == 0 ? [0, 255] : $0 == 255 ? [255, 0] : [$0] } + [0, 1]
    }

    /// In the order of the numbers: `size` ones, a zero, and the number from its highest byte.
    package static func number(_ value: Int) -> [UInt8] {
        precondition(value >= 0 && value < 1 << 40)
        var size = 1
        while value >= 1 << (7 * size - 1) { size += 1 }
        let word = ((1 << size) - 1) << (7 * size) | value
        return (0..<size).reversed().map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }

    package static func path(_ path: String) -> [UInt8] {
        path.split(separator: "/").flatMap { [0xBE] + text(String($0)) }
    }

    package static func document(_ path: String) -> [UInt8] {
        table("remote_document") + self.path(path) + [0x80]
    }

    package static func target(_ id: Int) -> [UInt8] {
        table("target") + [0x8C] + number(id) + [0x80]
    }

    package static func targetDocument(_ id: Int, _ path: String) -> [UInt8] {
        table("target_document") + [0x8C] + number(id) + self.path(path) + [0x80]
    }

    package static func documentTarget(_ path: String, _ id: Int) -> [UInt8] {
        table("document_target") + self.path(path) + [0x8C] + number(id) + [0x80]
    }

    package static func mutation(_ user: String, _ batch: Int) -> [UInt8] {
        table("mutation") + [0x8D] + text(user) + [0x8A] + number(batch) + [0x80]
    }
}
