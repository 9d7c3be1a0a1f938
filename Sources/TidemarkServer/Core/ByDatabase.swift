import TidemarkModel

/// The databases to which a setting applies.
public enum DatabaseScope: Hashable, Sendable {
    /// The databases without a setting of their own.
    case others
    /// The databases of an id, such as `(default)`, in every project.
    case database(String)

    /// The id of the databases; nil for ``others``.
    public var id: String? { if case .database(let id) = self { id } else { nil } }
}

/// A setting of databases: values for the databases with some ids, and a value for all others.
struct ByDatabase<Value> {
    /// The maximum number of ids with a value of their own.
    static var maxIDs: Int { 1_000 }

    /// The value for databases that have no value of their own.
    var others: Value
    private(set) var own: [ByteString: Value] = [:]

    init(_ others: Value) { self.others = others }

    /// The value for a database.
    subscript(database: String) -> Value {
        own.isEmpty ? others : own[ByteString(database)] ?? others
    }

    /// Returns the scope that decides the value of a database.
    func scope(of database: String) -> DatabaseScope {
        own[ByteString(database)] == nil ? .others : .database(database)
    }

    /// Returns the value that applies to a scope.
    func value(of scope: DatabaseScope) -> Value { own(scope) ?? others }

    /// Returns the value that is set for this scope; nil if none is set.
    func own(_ scope: DatabaseScope) -> Value? {
        switch scope {
        case .others: others
        case .database(let id): own[ByteString(id)]
        }
    }

    /// Changes the value of a database, in place.
    mutating func update<Result>(_ database: String, _ body: (inout Value) -> Result) -> Result {
        let key = ByteString(database)
        return own[key] == nil ? body(&others) : body(&own[key]!)
    }

    /// Sets the value of a scope.
    ///
    /// - Returns: False if too many ids have a value of their own.
    mutating func set(_ value: Value, of scope: DatabaseScope) -> Bool {
        switch scope {
        case .others: others = value
        case .database(let id):
            let key = ByteString(id)
            if own[key] == nil, own.count >= Self.maxIDs { return false }
            own[key] = value
        }
        return true
    }

    /// The values with their scopes: first the value of ``DatabaseScope/others``, then by id.
    var all: [(scope: DatabaseScope, value: Value)] {
        let ids = own.keys.map(\.text).sorted { $0.precedesInBytes($1) }
        return [(.others, others)] + ids.map { (.database($0), self[$0]) }
    }

    /// Changes every value, in place.
    mutating func updateAll(_ body: (inout Value) -> Void) {
        body(&others)
        for key in Array(own.keys) { body(&own[key]!) }
    }
}
