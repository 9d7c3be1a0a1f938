/// Numbers for repeated texts of records: sources and time zones. A record costs a single look-up
/// by a 64-bit hash.
struct NameTables: Sendable {
    private(set) var sources: [HealthSource]
    /// Names such as `Europe/Berlin`; the first is empty and means no zone.
    private(set) var zones: [String]
    private(set) var sourceHashes: [UInt64]
    private var written: [UInt64: UInt16] = [:]
    private var lastWritten: (hash: UInt64, number: UInt16)?
    private var numbers: [HealthSource: UInt16] = [:]

    static let maxSources = 4_096
    static let maxZones = 1_024
    /// Spellings of sources that are remembered; a device's name changes with each of its versions.
    private static let maxWritten = 65_536

    init(sources: [HealthSource] = [], zones: [String] = [""]) {
        precondition(zones.first == "")
        self.sources = sources
        self.zones = zones
        sourceHashes = sources.map(\.hash)
        for (number, source) in sources.enumerated() { numbers[source] = UInt16(number) }
    }

    /// Returns the number of a source. The parameters are the texts between the quotes.
    @inline(__always)
    mutating func source(
        name: UnsafeRawBufferPointer, device: UnsafeRawBufferPointer
    ) -> UInt16? {
        // The text before the first comma is an address.
        var rest = device
        if let comma = device.firstIndex(of: UInt8(ascii: ",")) {
            rest = UnsafeRawBufferPointer(rebasing: device[comma...])
        }
        let hash = Hash64.of(rest, seed: Hash64.of(name))
        if let lastWritten, lastWritten.hash == hash { return lastWritten.number }
        guard let number = source(name: name, device: rest, hash: hash) else { return nil }
        lastWritten = (hash, number)
        return number
    }

    private mutating func source(
        name: UnsafeRawBufferPointer, device: UnsafeRawBufferPointer, hash: UInt64
    ) -> UInt16? {
        if let number = written[hash] { return number }
        let source = HealthSource(
            name: XMLText.unescaped(name), device: HealthSource.device(name: name, device: device))
        guard let number = number(of: source) else { return nil }
        if written.count >= Self.maxWritten { written = [:] }
        written[hash] = number
        return number
    }

    mutating func number(of source: HealthSource) -> UInt16? {
        if let number = numbers[source] { return number }
        guard sources.count < Self.maxSources else { return nil }
        let number = UInt16(sources.count)
        sources.append(source)
        sourceHashes.append(source.hash)
        numbers[source] = number
        return number
    }

    /// Returns the number of a zone; 0 if the zone is unknown or if there are too many zones.
    mutating func zone(_ name: UnsafeRawBufferPointer) -> UInt16 {
        if let known = zones.firstIndex(where: { $0.utf8.elementsEqual(name) }) {
            return UInt16(known)
        }
        return zone(named: XMLText.unescaped(name))
    }

    /// Returns the number of a zone; 0 if the zone is unknown or if there are too many zones.
    mutating func zone(named name: String) -> UInt16 {
        if let known = zones.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
            return UInt16(known)
        }
        guard zones.count < Self.maxZones, ZoneRules.isKnown(name) else { return 0 }
        zones.append(name)
        return UInt16(zones.count - 1)
    }
}

enum XMLText {
    /// The text of an attribute, with the five named entities and character references resolved.
    static func unescaped(_ bytes: UnsafeRawBufferPointer) -> String {
        let written = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "&")) else { return written }
        var result = ""
        var rest = Substring(written)
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(12).firstIndex(of: ";"),
                let character = character(rest[rest.index(after: start)..<end])
            else {
                result.append("&")
                rest = rest.dropFirst()
                continue
            }
            result.unicodeScalars.append(character)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let number =
                digits.hasPrefix("x") || digits.hasPrefix("X")
                ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return number.flatMap(Unicode.Scalar.init)
        }
    }
}
