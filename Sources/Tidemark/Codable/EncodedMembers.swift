/// The members of a map that is being encoded, in the order in which they were added.
///
/// Two names are equal if their bytes are equal, as in Firestore. A Swift dictionary would merge
/// two names that differ only in the composition of an accent.
struct EncodedMembers {
    private var names: [String] = []
    private var nodes: [StoredEncoder] = []
    private var places: [ByteString: Int] = [:]

    /// Replaces the member of the same name.
    mutating func set(_ name: String, _ node: StoredEncoder) {
        if let place = places[ByteString(name)] {
            nodes[place] = node
        } else {
            places[ByteString(name)] = nodes.count
            names.append(name)
            nodes.append(node)
        }
    }

    /// The members as a dictionary if a dictionary can hold all of them, otherwise as
    /// ``EquivalentNames``.
    var any: Any {
        let data = dictionary
        if data.count == names.count { return data }
        return EquivalentNames(members: zip(names, nodes).map { (name: $0, value: $1.any) })
    }

    /// The members as a dictionary. If several names are one key of a dictionary, the first name is
    /// kept with its value.
    var dictionary: [String: Any] {
        Dictionary(
            zip(names, nodes).map { ($0, $1.any) }, uniquingKeysWith: { first, _ in first })
    }

    /// The data of a write, without a loss. ``ValueParser`` unwraps them.
    var writtenData: [String: Any] {
        let data = dictionary
        return data.count == names.count ? data : EquivalentNames.data(any)
    }
}

/// The members of a map that no Swift dictionary can hold, on their way to a write.
struct EquivalentNames {
    let members: [(name: String, value: Any)]

    /// Wraps the members as the data of a whole document. An app's data never look like this,
    /// because no field has an empty name.
    static func data(_ names: Any) -> [String: Any] { ["": names] }

    /// Unwraps data that ``data(_:)`` made; nil for all other data.
    init?(wrappedIn data: [String: Any]) {
        guard data.count == 1, let names = data[""] as? EquivalentNames else { return nil }
        self = names
    }

    init(members: [(name: String, value: Any)]) { self.members = members }
}

/// A dictionary that encodes itself as a map. Its keys are the app's data and not names of
/// properties, so no strategy changes them. Foundation's coders leave them unchanged too.
protocol KeyedByData {}

extension Dictionary: KeyedByData {}
