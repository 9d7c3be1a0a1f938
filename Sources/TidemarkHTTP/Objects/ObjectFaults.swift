import Foundation
import Synchronization
import TidemarkModel
package import TidemarkObjects

/// Faults by the vocabulary of Google's test server for Cloud Storage.
///
/// - `POST /retry_test` with `{"instructions": {METHOD: [INSTRUCTION, …]}}` makes a test. Each
///   instruction is the fault of one request of the method that has the header `x-retry-test-id`
///   with the test's id. With `"everyRequest": true`, requests without the header meet the faults.
/// - `GET /retry_test/ID` returns the faults that have not happened, and `completed`.
/// - `DELETE /retry_test/ID` deletes a test.
/// - `GET /retry_tests` lists the tests.
package final class ObjectFaults: Sendable {
    private let tests = Mutex(RetryTests())
    private let callers: ObjectCallers
    /// The faults on whole requests of the simulated network. Orders of tests do not meet them.
    let network = ObjectNetwork()

    init(_ callers: ObjectCallers) { self.callers = callers }

    /// Answers a request, with the fault that is ordered for it.
    ///
    /// - Parameter answer: Answers a request without a fault.
    func play(
        _ request: ObjectsRequest, _ answer: @Sendable (ObjectsRequest) async -> ObjectsAnswer
    ) async -> ObjectsAnswer {
        do throws(ObjectRefusal) {
            if let answer = try await answerAboutTests(request) { return answer }
        } catch { return .cloud(error) }
        return await network.play(request) { request in
            guard let fault = fault(of: request) else { return await answer(request) }
            return await fault.play(answer)
        }
    }

    /// Orders faults.
    ///
    /// - Returns: The id of the test.
    package func order(_ faults: RetryOrder) throws(ObjectRefusal) -> String {
        try add(faults).id
    }

    /// Returns the state of a test; nil if there is no such test.
    package func test(_ id: String) -> RetryTest? { tests.withLock { $0[id] } }

    private func add(_ order: RetryOrder) throws(ObjectRefusal) -> RetryTest {
        let id = UUID().uuidString.lowercased()
        return try tests.withLock { (tests) throws(ObjectRefusal) in
            try tests.add(order, id: id)
        }
    }

    private func fault(of request: ObjectsRequest) -> ObjectFault? {
        guard let target = ObjectsTarget(path: request.path),
            let method = RetryMethod(
                target, verb: request.method, isUpload: request.query["upload_id"] != nil)
        else { return nil }
        let id = request.header("x-retry-test-id")
        guard let fault = tests.withLock({ $0.next(method, test: id) }) else { return nil }
        return ObjectFault(request: request, fault: fault) { [self] in
            tests.withLock { $0.take(fault) }
        }
    }

    /// - Returns: Nil if the request is not about retry tests.
    private func answerAboutTests(
        _ request: ObjectsRequest
    ) async throws(ObjectRefusal) -> ObjectsAnswer? {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map(String.init)
        guard parts.count <= 2, let first = parts.first,
            first == "retry_test" || first == "retry_tests" && parts.count == 1
        else { return nil }
        try await callers.requireAdministrator(request.authorization)
        switch (request.method, parts.count) {
        case ("POST", 1) where first == "retry_test":
            return .json(try add(try RetryOrder(try await request.collected())).json)
        case ("GET", 1) where first == "retry_tests":
            let all = tests.withLock { $0.all }
            return .json(.object(["retry_test": .list(JSONList(all.map(\.json)))]))
        case ("GET", 2):
            guard let test = test(parts[1]) else { throw Self.noTest(parts[1]) }
            return .json(test.json)
        case ("DELETE", 2):
            guard tests.withLock({ $0.remove(parts[1]) }) else { throw Self.noTest(parts[1]) }
            return .text("Deleted \(parts[1])", status: 200)
        default:
            throw ObjectRefusal(405, reason: "methodNotAllowed", message: "Method Not Allowed")
        }
    }

    private static func noTest(_ id: String) -> ObjectRefusal {
        ObjectRefusal(
            404, reason: "notFound", message: "There is no retry test \(id.prefix(100)).")
    }
}
