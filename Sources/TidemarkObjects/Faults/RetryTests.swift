package import TidemarkModel

/// Faults that are ordered for requests, each for one request. Pure.
package struct RetryTest: Hashable, Sendable {
    package let id: String
    /// The faults that have not happened, by the method of their requests, in their order.
    package internal(set) var instructions: [RetryMethod: [RetryInstruction]]
    /// True if the faults are also for requests that name no test. Apps cannot add a header.
    package let isForAll: Bool

    /// True if each fault has happened.
    package var isCompleted: Bool { instructions.values.allSatisfy(\.isEmpty) }

    /// The test as JSON.
    package var json: JSONValue {
        let lists = instructions.sorted { $0.key.rawValue < $1.key.rawValue }.map { entry in
            let names = entry.value.map { JSONValue.text($0.name) }
            return (name: entry.key.rawValue, value: JSONValue.list(JSONList(names)))
        }
        return .object([
            "id": .text(id), "instructions": .object(JSONObject(lists)), "transport": .text("HTTP"),
            "everyRequest": .bool(isForAll), "completed": .bool(isCompleted),
        ])
    }
}

/// The order of a test: `{"instructions": {METHOD: [INSTRUCTION, …], …}}`.
package struct RetryOrder: Hashable, Sendable {
    /// The maximum number of faults of a test.
    static let maxInstructions = 1_000

    package let instructions: [RetryMethod: [RetryInstruction]]
    package let isForAll: Bool

    package init(
        _ instructions: [RetryMethod: [RetryInstruction]], isForAll: Bool
    ) throws(ObjectRefusal) {
        let count = instructions.values.reduce(0) { $0 + $1.count }
        guard (1...Self.maxInstructions).contains(count) else {
            throw .invalid("A retry test has 1 to \(Self.maxInstructions) instructions.")
        }
        self.instructions = instructions
        self.isForAll = isForAll
    }

    /// - Parameter body: The JSON. `transport` can be `HTTP` alone, and `everyRequest` is true for
    ///   faults of requests that name no test.
    /// - Throws: ``ObjectRefusal`` with status 400 and a sentence for another form.
    package init(_ body: [UInt8]) throws(ObjectRefusal) {
        guard let form = (try? JSONValue(body, maxValues: 10_000))?.object,
            let lists = form["instructions"]?.object
        else {
            throw .invalid(
                "The body must be {\"instructions\": {METHOD: [INSTRUCTION, …]}}.")
        }
        if let transport = form["transport"], transport.text != "HTTP" {
            throw .invalid("This server has retry tests of the transport HTTP alone.")
        }
        var isForAll = false
        switch form["everyRequest"] {
        case nil: break
        case .bool(let value)?: isForAll = value
        default: throw .invalid("everyRequest must be true or false.")
        }
        var instructions: [RetryMethod: [RetryInstruction]] = [:]
        for member in lists {
            let method = try RetryMethod(member.name)
            guard case .list(let list) = member.value else {
                throw .invalid("The instructions of \(method.rawValue) must be a list of texts.")
            }
            for value in list {
                guard let name = value.text else {
                    throw .invalid("An instruction of \(method.rawValue) is not a text.")
                }
                instructions[method, default: []].append(try RetryInstruction(name))
            }
        }
        try self.init(instructions, isForAll: isForAll)
    }
}

/// All retry tests of a server. Pure.
package struct RetryTests: Sendable {
    /// The maximum number of tests. A further test takes the place of the oldest completed one.
    package static let maxTests = 1_000

    /// A fault of the next request, which has not happened.
    package struct Fault: Hashable, Sendable {
        package let test: String
        package let method: RetryMethod
        package let instruction: RetryInstruction
        /// The number of the faults of this method that are left.
        fileprivate let left: Int
    }

    /// The tests, oldest first.
    package private(set) var all: [RetryTest] = []

    package init() {}

    package subscript(id: String) -> RetryTest? { all.first { $0.id == id } }

    /// - Parameter id: An id that no test has.
    /// - Throws: ``ObjectRefusal`` with status 429 if there are too many tests.
    package mutating func add(
        _ order: RetryOrder, id: String
    ) throws(ObjectRefusal) -> RetryTest {
        precondition(self[id] == nil, "each test has an id of its own")
        if all.count >= Self.maxTests {
            guard let old = all.firstIndex(where: \.isCompleted) else {
                throw ObjectRefusal(
                    429, reason: "rateLimitExceeded",
                    message: "There are \(Self.maxTests) open retry tests. Delete some first.")
            }
            all.remove(at: old)
        }
        let test = RetryTest(id: id, instructions: order.instructions, isForAll: order.isForAll)
        all.append(test)
        return test
    }

    /// - Returns: False if there is no such test.
    package mutating func remove(_ id: String) -> Bool {
        guard let place = all.firstIndex(where: { $0.id == id }) else { return false }
        all.remove(at: place)
        return true
    }

    /// Returns the next fault for a request; nil if it meets none. A fault happens when
    /// ``take(_:)`` has returned true.
    ///
    /// - Parameter id: The test that the request names; nil if it names none. An unknown test has
    ///   no faults, as on Google's server: it may have been deleted.
    package func next(_ method: RetryMethod, test id: String?) -> Fault? {
        let test = all.first { test in
            (id.map { $0 == test.id } ?? test.isForAll) && test.instructions[method]?.first != nil
        }
        guard let test, let list = test.instructions[method], let first = list.first else {
            return nil
        }
        return Fault(test: test.id, method: method, instruction: first, left: list.count)
    }

    /// Takes a fault for one request.
    ///
    /// - Returns: False if another request took it, or the test was deleted.
    package mutating func take(_ fault: Fault) -> Bool {
        guard let place = all.firstIndex(where: { $0.id == fault.test }),
            let list = all[place].instructions[fault.method], list.count == fault.left
        else { return false }
        all[place].instructions[fault.method] = Array(list.dropFirst())
        return true
    }
}
