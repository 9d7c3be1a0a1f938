import TidemarkHTTP
import TidemarkHTTPClient
import TidemarkServer

/// Calls functions over HTTP: by the emulator of functions, or at the address of each function.
struct HTTPEventReceiver: EventReceiver {
    /// The URL of the emulator of functions, without a slash at its end; nil for none.
    let emulator: String?
    /// The longest time of an attempt.
    let timeout: Duration

    /// The maximum number of bytes of an answer that are read.
    private static let maxAnswer = 65_536
    /// The number of characters of an answer that a report quotes.
    private static let quoted = 300

    func reaches(_ trigger: EventTrigger) -> Bool { trigger.address != nil || emulator != nil }

    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
        Task { done(await answer(to: event)) }
    }

    private func answer(to event: DocumentEvent) async -> DeliveryAnswer {
        let trigger = event.trigger
        guard
            let url = trigger.address
                ?? emulator.map({ $0 + EventMessage.emulatorPath(of: trigger) })
        else { return .unreachable("no address") }
        let message = EventMessage(event, isText: trigger.address == nil)
        do throws(FunctionCall.Failure) {
            let answer = try await FunctionCall.post(
                message.body, fields: message.headers.map { ($0.name, $0.value) }, to: url,
                within: timeout, upTo: Self.maxAnswer)
            return Self.answer(
                status: answer.status, text: String(decoding: answer.body, as: UTF8.self),
                isKnownByKey: trigger.address == nil)
        } catch {
            switch error {
            case .unreachable(let reason): return .unreachable(reason)
            case .noAnswer(let reason): return .failed(reason)
            }
        }
    }

    /// - Parameter isKnownByKey: True if a status of 404 says that the receiver does not know the
    ///   trigger's key, and false if the address is wrong.
    static func answer(status: Int, text: String, isKnownByKey: Bool) -> DeliveryAnswer {
        let reason = "status \(status): \(text.prefix(quoted))"
        switch status {
        case 200..<300: return .delivered
        case 404: return isKnownByKey ? .unknownKey : .failed(reason)
        case 408, 429, 500...: return .failed(reason)
        default: return .refused(reason)
        }
    }
}
