/// The device or app that measured, identified by its name in the export.
public struct HealthSource: Hashable, Sendable {
    /// The device of the source, from the most trusted with movement to the least.
    public enum Device: UInt8, CaseIterable, Sendable { case watch, phone, other }

    public let name: String
    public let device: Device

    public init(name: String, device: Device) {
        self.name = name
        self.device = device
    }

    /// Creates the source as an export names it, so both are the same source.
    ///
    /// - Parameters:
    ///   - name: HealthKit's name of the source.
    ///   - model: The model of the device, such as `Watch` or `iPhone15,2`; nil if it is unknown.
    public init(name: String, model: String?) {
        let device = Self.device(name: name, model: model ?? "")
        self.init(name: name, device: device)
    }

    private static func device(name: String, model: String) -> Device {
        var (name, model) = (name, model)
        return name.withUTF8 { name in
            model.withUTF8 { model in
                device(
                    name: UnsafeRawBufferPointer(name), device: UnsafeRawBufferPointer(model))
            }
        }
    }

    var hash: UInt64 { Hash64.of(name, seed: UInt64(device.rawValue) + 1) }

    /// Finds the device from an export's attributes. An `HKDevice` begins with the address of an
    /// object in the memory of the phone, which differs in every export, so only the text behind it
    /// counts.
    static func device(
        name: UnsafeRawBufferPointer, device: UnsafeRawBufferPointer
    ) -> Device {
        if contains(device, "Watch") || contains(name, "Watch") { return .watch }
        if contains(device, "iPhone") || contains(name, "iPhone") { return .phone }
        return .other
    }

    private static func contains(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        let first = word.utf8Start[0]
        var place = 0
        while place <= bytes.count - count {
            if bytes[place] == first,
                (1..<count).allSatisfy({ bytes[place + $0] == word.utf8Start[$0] })
            {
                return true
            }
            place += 1
        }
        return false
    }
}

/// The order in which sources are trusted when several measured the same minutes.
public struct SourcePriority: Hashable, Sendable {
    /// The names of sources, the most trusted first. All others come after these.
    public var first: [String]

    /// - Parameter first: The user's order from the Health app, if it is known: an export does not
    ///   contain it. The others follow in this order: watch, phone, all others, and by name.
    public init(first: [String] = []) { self.first = first }

    /// Returns the place of every source in the order, by its number: a smaller place is more
    /// trusted.
    func ranks(_ sources: [HealthSource]) -> [UInt32] {
        let places = sources.map { source in
            first.firstIndex { $0.utf8.elementsEqual(source.name.utf8) } ?? first.count
        }
        let order = sources.indices.sorted { a, b in
            if places[a] != places[b] { return places[a] < places[b] }
            if sources[a].device != sources[b].device {
                return sources[a].device.rawValue < sources[b].device.rawValue
            }
            return sources[a].name.utf8.lexicographicallyPrecedes(sources[b].name.utf8)
        }
        var ranks = [UInt32](repeating: 0, count: sources.count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        return ranks
    }
}
