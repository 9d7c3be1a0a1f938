import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import TidemarkHTTP
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

    static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(5)
        // The server itself decides when it asks again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

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
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for header in message.headers {
            request.headers.add(name: header.name, value: header.value)
        }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        do {
            let response = try await Self.client.execute(
                request, timeout: .nanoseconds(timeout.nanosecondCount))
            let body = try? await response.body.collect(upTo: Self.maxAnswer)
            return Self.answer(
                status: Int(response.status.code), text: body.map { String(buffer: $0) } ?? "",
                isKnownByKey: trigger.address == nil)
        } catch { return Self.answer(to: error) }
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

    private static func answer(to error: any Error) -> DeliveryAnswer {
        if error is NIOConnectionError { return .unreachable("nothing listens there") }
        switch error as? HTTPClientError {
        case .connectTimeout?: return .unreachable("the connection took too long")
        case .deadlineExceeded?, .readTimeout?: return .failed("no answer in time")
        default: return .failed("\(error)")
        }
    }
}

extension Duration {
    fileprivate var nanosecondCount: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
