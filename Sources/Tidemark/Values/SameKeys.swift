import Synchronization

/// Finds names that are two fields of Firestore but one key of a Swift dictionary, because they
/// differ only in the composition of an accent.
enum SameKeys {
    /// The names that were logged, at most ``maxLogged``.
    private static let logged = Mutex<Set<ByteString>>([])
    private static let maxLogged = 100

    /// Returns the elements whose names are different keys of a dictionary: the first element of
    /// each key. Logs the names of the others, each once.
    ///
    /// - Parameters:
    ///   - elements: The elements, in the order of the names' bytes.
    ///   - document: The document of the elements, for the log; nil if it is not known.
    static func first<Element>(
        of elements: [Element], in document: @autoclosure () -> String?,
        name: (Element) -> String
    ) -> [Element] {
        // A name with only ASCII characters is equal to no other name.
        if elements.count < 2 || elements.allSatisfy({ name($0).utf8.allSatisfy { $0 < 0x80 } }) {
            return elements
        }
        var kept: [String: Element] = [:]
        return elements.filter { element in
            let name = name(element)
            if kept.updateValue(element, forKey: name) == nil { return true }
            log(name, document())
            return false
        }
    }

    private static func log(_ name: String, _ document: String?) {
        let isNew = logged.withLock { logged in
            logged.count < maxLogged && logged.insert(ByteString(name)).inserted
        }
        guard isNew else { return }
        let scalars = name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        Log.fault(
            """
            A map (of \(document ?? "a document")) has two names that are the same key of a \
            Swift dictionary. The field "\(scalars)" is left out. get(FieldPath(["\(scalars)"])) \
            returns its value.
            """)
    }
}
