/// The members of a map that is being encoded, in the order in which they came.
///
/// Names are told apart by their bytes, as Firestore does. A Swift dictionary would make one of two
/// names that differ only in how an accent is composed.
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

    /// A dictionary where one can hold all members, and ``EquivalentNames`` where none can.
    var any: Any {
        let data = dictionary
        if data.count == names.count { return data }
        return EquivalentNames(members: zip(names, nodes).map { (name: $0, value: $1.any) })
    }

    /// Of names that are one key of a dictionary, the first one with its value.
    var dictionary: [String: Any] {
        Dictionary(
            zip(names, nodes).map { ($0, $1.any) }, uniquingKeysWith: { first, _ in first })
    }

    /// The data of a write, which ``ValueParser`` takes apart again: nothing is lost.
    var writtenData: [String: Any] {
        let data = dictionary
        return data.count == names.count ? data : EquivalentNames.data(any)
    }
}

/// The members of a map that no Swift dictionary can hold, on their way to a write.
struct EquivalentNames {
    let members: [(name: String, value: Any)]

    /// Wraps them as the data of a whole document. No field has an empty name, so that a document of
    /// the app's never looks like this.
    static func data(_ names: Any) -> [String: Any] { ["": names] }

    /// The members in data that ``data(_:)`` made; nil for all other data.
    init?(wrappedIn data: [String: Any]) {
        guard data.count == 1, let names = data[""] as? EquivalentNames else { return nil }
        self = names
    }

    init(members: [(name: String, value: Any)]) { self.members = members }
}

/// A dictionary that encodes itself as a map: its keys are data of the app's, and no names of
/// properties. Foundation's coders leave them alone as well.
protocol KeyedByData {}

extension Dictionary: KeyedByData {}
