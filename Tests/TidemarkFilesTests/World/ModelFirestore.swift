import TidemarkModel

/// A Firestore that knows the order of a stream's batches: a batch that is sent again must be the
/// same as before. It keeps the documents that the batches make.
struct ModelFirestore {
    /// The fields of files.
    static let fields = ["photo0", "photo1"]

    /// The number of batches of this stream whose answers the client has stored.
    var acknowledged = 0
    private var log: [[Mutation]] = []
    private(set) var documents: [String: MapValue] = [:]
    private(set) var everNamed: [String] = []
    /// The objects that the last batch named.
    private(set) var namedObjects: [(path: String, object: (name: String, size: Int64))] = []
    /// The objects that pending fields announced.
    private(set) var announced: Set<String> = []
    /// The objects that pending fields of refused batches announced.
    private var refused: Set<String> = []
    /// The objects that deleted documents named.
    private(set) var deleted: Set<String> = []
    /// The number of fields that were completed after their documents.
    private(set) var completions = 0

    static func refuses(_ mutations: [Mutation]) -> Bool {
        mutations.contains { mutation in
            switch mutation.operation {
            case .set(let fields), .patch(let fields, _): fields["refused"] != nil
            case .delete, .verify: false
            }
        }
    }

    /// - Returns: The violation of the stream's order; nil for none.
    mutating func receive(_ mutations: [Mutation], at place: Int) -> String? {
        namedObjects = []
        if place < log.count {
            return log[place] == mutations ? nil : "another batch had its place"
        }
        // The server applies no batch that follows a refused batch.
        let isBehind = log.contains(where: Self.refuses)
        log.append(mutations)
        if isBehind { return nil }
        if Self.refuses(mutations) {
            for case .set(let fields) in mutations.map(\.operation) { noteRefused(fields) }
            return nil
        }
        for mutation in mutations {
            if let problem = apply(mutation) { return problem }
        }
        return nil
    }

    private mutating func noteRefused(_ fields: MapValue) {
        for field in Self.fields {
            guard case .map(let photo)? = fields[field],
                case .string(let name)? = photo["name"]
            else { continue }
            refused.insert(name)
        }
    }

    private mutating func apply(_ mutation: Mutation) -> String? {
        let path = mutation.path.text
        if case .patch(let fields, let mask) = mutation.operation {
            for case .map(let photo)? in mask.map({ fields[$0] }) {
                guard case .string(let name)? = photo["path"], refused.contains(name) else {
                    continue
                }
                return "\(name) completes a document that was refused"
            }
        }
        switch mutation.operation {
        case .set(let fields):
            documents[path] = fields
            return note(fields, in: path)
        case .patch(let fields, let mask):
            guard var document = documents[path] else { return "a file completes no document" }
            for field in mask {
                if isPending(field.segments[0], in: path), fields[field] != nil { completions += 1 }
                document[field] = fields[field]
            }
            documents[path] = document
            return note(fields, in: path)
        case .delete:
            for field in Self.fields {
                if let name = name(of: field, in: path) { deleted.insert(name) }
            }
            documents[path] = nil
            return nil
        case .verify: return nil
        }
    }

    private mutating func note(_ fields: MapValue, in path: String) -> String? {
        for field in Self.fields {
            guard let value = fields[field] else { continue }
            guard case .map(let photo) = value else { return "a field without a map" }
            if case .string(let name)? = photo["name"] { announced.insert(name) }
            if photo["pending"] == .boolean(true) { continue }
            guard case .string(let name)? = photo["path"], case .integer(let size)? = photo["size"]
            else { return "a field without a path" }
            everNamed.append(name)
            namedObjects.append((path, (name, size)))
        }
        return nil
    }

    func isPending(_ field: String, in path: String) -> Bool {
        guard case .map(let photo)? = documents[path]?[field] else { return false }
        return photo["pending"] == .boolean(true)
    }

    private func name(of field: String, in path: String) -> String? {
        guard case .map(let photo)? = documents[path]?[field],
            case .string(let name)? = photo["path"]
        else { return nil }
        return name
    }

    /// True if a document names the object now.
    func names(_ object: String) -> Bool {
        documents.keys.contains { path in
            Self.fields.contains { name(of: $0, in: path) == object }
        }
    }

    mutating func endStream() { (acknowledged, log) = (0, []) }
}
