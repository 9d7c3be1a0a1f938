import Foundation
import TidemarkModel
package import TidemarkServer

/// Registers functions as Firebase's tools do, and shows and steers their deliveries.
///
/// - `PUT /emulator/v1/projects/P/triggers/KEY` registers a function of the first generation.
///   `DELETE` removes a function of either generation.
/// - `POST /emulator/v1/projects/P/eventarcTrigger?eventarcTriggerId=KEY` registers a function of
///   the second generation.
/// - `GET /tidemark/v1/triggers` returns an ``EventReport``.
/// - `POST /tidemark/v1/triggers:idle` answers when no event waits, at the latest after `?timeout=`
///   seconds, 60 unless given and at most 600. Its status is 200, 409 if deliveries are paused
///   while events wait, and 504 at the end of the time.
/// - `POST /tidemark/v1/triggers:pause` and `…:resume`.
/// - `POST /tidemark/v1/triggers:repeat?event=ID` delivers an event again that was set aside or is
///   among the last 100.
package struct TriggerEndpoint: WebPages {
    private let events: ServerEvents

    package init(_ server: FirestoreServer) { events = ServerEvents(server) }

    package func answer(_ request: PageRequest) async -> PageAnswer? {
        let path = request.path
        if path.starts(with: ["emulator", "v1", "projects"]) { return registration(request) }
        guard path.count == 3, path.starts(with: ["tidemark", "v1"]) else { return nil }
        switch (request.method, path[2]) {
        case ("GET", "triggers"): return .triggers(events.report())
        case ("POST", "triggers:idle"): return await idle(request)
        case ("POST", "triggers:pause"):
            events.pause()
            return .triggers(["status": "paused"])
        case ("POST", "triggers:resume"):
            events.resume()
            return .triggers(["status": "delivering"])
        case ("POST", "triggers:repeat"): return repeatEvent(request)
        case (_, "triggers"), (_, "triggers:idle"), (_, "triggers:pause"), (_, "triggers:resume"),
            (_, "triggers:repeat"):
            return .triggerRefusal(405, "This path does not support the method \(request.method).")
        default: return nil
        }
    }

    private func idle(_ request: PageRequest) async -> PageAnswer {
        let seconds = request["timeout"].map { Double($0) } ?? 60
        guard let seconds, (0...600).contains(seconds) else {
            return .triggerRefusal(400, "The timeout must be 0 to 600 seconds.")
        }
        switch await events.waitUntilIdle(within: .seconds(seconds)) {
        case .idle: return .triggers(events.report())
        case .paused:
            return .triggerRefusal(409, "Events wait, and deliveries are paused.")
        case .late:
            let waiting = events.report().waiting
            return .triggerRefusal(504, "\(waiting) events still wait after \(seconds) s.")
        }
    }

    private func repeatEvent(_ request: PageRequest) -> PageAnswer {
        guard let id = request["event"] else {
            return .triggerRefusal(400, "The parameter event must be the id of an event.")
        }
        do throws(RPCStatus) { try events.repeatEvent(id) } catch {
            return .triggerRefusal(error.code == .notFound ? 404 : 503, error.message)
        }
        return .triggers(["status": "waiting"])
    }

    // MARK: Registrations

    private static let done = Array("{}".utf8)

    private func registration(_ request: PageRequest) -> PageAnswer? {
        let path = request.path
        let isFirst = path.count == 6 && path[4] == "triggers"
        guard isFirst || path.count == 5 && path[4] == "eventarcTrigger" else { return nil }
        let project = path[3]
        switch (request.method, isFirst) {
        case ("PUT", true):
            return register(answering: Self.done) { () throws(InvalidTrigger) -> EventTrigger in
                try TriggerRegistration.first(request.body, key: path[5], project: project)
            }
        case ("POST", false):
            guard let key = request["eventarcTriggerId"] else {
                return .emulatorError(.invalidArgument("eventarcTriggerId is missing."))
            }
            return register(answering: request.body) { () throws(InvalidTrigger) -> EventTrigger in
                try TriggerRegistration.second(request.body, key: key, project: project)
            }
        case ("DELETE", true):
            do throws(RPCStatus) {
                guard try events.remove(key: path[5], project: project) else {
                    return .emulatorError(RPCStatus(.notFound, "There is no trigger \(path[5])."))
                }
            } catch { return .emulatorError(error) }
            return .triggerBytes(Self.done)
        default: return .triggerRefusal(405, "Method not allowed.")
        }
    }

    /// - Parameter body: The body of the answer after success.
    private func register(
        answering body: [UInt8], _ read: () throws(InvalidTrigger) -> EventTrigger
    ) -> PageAnswer {
        let trigger: EventTrigger
        do throws(InvalidTrigger) { trigger = try read() } catch {
            return .emulatorError(.invalidArgument(error.message))
        }
        do throws(RPCStatus) { try events.register(trigger) } catch {
            return .emulatorError(error)
        }
        return .triggerBytes(body)
    }
}

extension PageAnswer {
    fileprivate static func triggerBytes(_ bytes: [UInt8], status: Int = 200) -> PageAnswer {
        PageAnswer(status: status, type: "application/json", body: .bytes(bytes))
    }

    fileprivate static func triggers(_ value: some Encodable, status: Int = 200) -> PageAnswer {
        // JSON can represent every text and number.
        triggerBytes((try? JSONValueEncoder(isSorted: true).encode(value)) ?? [], status: status)
    }

    fileprivate static func triggerRefusal(_ status: Int, _ sentence: String) -> PageAnswer {
        triggers(["error": sentence], status: status)
    }

    /// An error in the form that Google's libraries read.
    fileprivate static func emulatorError(_ error: RPCStatus) -> PageAnswer {
        let (status, name) =
            switch error.code {
            case .invalidArgument: (400, "INVALID_ARGUMENT")
            case .notFound: (404, "NOT_FOUND")
            case .resourceExhausted: (429, "RESOURCE_EXHAUSTED")
            case .failedPrecondition: (400, "FAILED_PRECONDITION")
            default: (503, "UNAVAILABLE")
            }
        let body = EmulatorError.Body(code: status, message: error.message, status: name)
        return triggers(EmulatorError(error: body), status: status)
    }
}
