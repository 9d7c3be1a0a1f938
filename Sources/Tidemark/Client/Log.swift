import Foundation
import Synchronization

/// A line that a client writes for its developer.
public struct LogLine: Hashable, Sendable {
    public enum Level: String, Hashable, Sendable {
        /// A sent or received message, while logging is on: kinds and counts, without a user's
        /// data.
        case debug
        /// Advice for the developer, in debug builds and while logging is on. The text names fields
        /// and collections, and no data of a user.
        case advice
        /// A failure that is not reported to any caller. The text can name fields and documents.
        case fault
    }

    public let level: Level
    public let text: String

    public init(level: Level, text: String) {
        self.level = level
        self.text = text
    }
}

/// The destination of a client's log.
public struct LogSink: Sendable {
    let write: @Sendable (LogLine) -> Void

    /// - Parameter write: Called on the logging thread. It must not block, and must not use a
    ///   client.
    public init(_ write: @escaping @Sendable (LogLine) -> Void) { self.write = write }

    /// Writes to the standard error stream, with the time.
    public static let standardError = LogSink { line in
        let time = Timestamp(date: Date()).rfc3339
        let text = "tidemark \(time) \(line.level.rawValue): \(line.text)\n"
        FileHandle.standardError.write(Data(text.utf8))
    }
}

/// The log for the developer, on the standard error stream or the app's own destination.
package enum Log {
    private static let isDebugging = Atomic(false)
    private static let sink = Mutex(LogSink.standardError)

    static func write(to sink: LogSink) { Self.sink.withLock { $0 = sink } }

    static func enable(_ isEnabled: Bool) { isDebugging.store(isEnabled, ordering: .relaxed) }

    package static var isEnabled: Bool { isDebugging.load(ordering: .relaxed) }

    /// Logs a failure that is not reported to any caller.
    static func fault(_ text: String) { write(.fault, text) }

    /// Logs a line if logging is on.
    package static func debug(_ text: @autoclosure () -> String) {
        if isEnabled { write(.debug, text()) }
    }

    /// Logs advice for the developer of the app, in a debug build or if logging is on.
    package static func advise(_ text: @autoclosure () -> String) {
        #if DEBUG
            write(.advice, text())
        #else
            if isEnabled { write(.advice, text()) }
        #endif
    }

    private static func write(_ level: LogLine.Level, _ text: String) {
        sink.withLock(\.self).write(LogLine(level: level, text: text))
    }
}

/// Logs the messages of a transport. While logging is off, it only reads a flag.
struct LoggedTransport: Transport {
    private let base: any Transport

    init(_ base: any Transport) { self.base = base }

    func networkChanged() {
        Log.debug("the network changed")
        base.networkChanged()
    }

    func prepare() { base.prepare() }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        guard Log.isEnabled else { return base.call(request, context, receive: receive) }
        let name = Self.name(of: request)
        Log.debug("call \(name)")
        return base.call(request, context) { event in
            if case .ended(let status) = event { Log.debug("call \(name) ended: \(status.code)") }
            receive(event)
        }
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        Log.debug("listen stream opened")
        return LoggedStream(
            base.listen(context) { Self.log("listen", event: $0, receive: receive) }, "listen")
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        Log.debug("write stream opened")
        return LoggedStream(
            base.write(context) { Self.log("write", event: $0, receive: receive) }, "write")
    }

    private static func log<Message>(
        _ stream: String, event: StreamEvent<Message>, receive: (StreamEvent<Message>) -> Void
    ) {
        switch event {
        case .message(let message): Log.debug("\(stream) <- \(name(of: message))")
        case .ended(let status): Log.debug("\(stream) stream ended: \(status.code)")
        }
        receive(event)
    }

    /// Returns the kind of a message, without its contents.
    fileprivate static func name(of message: some Any) -> String {
        let mirror = Mirror(reflecting: message)
        if let label = mirror.children.first?.label, mirror.displayStyle == .enum { return label }
        return "\(type(of: message))"
    }
}

private final class LoggedStream<Message: Sendable>: RequestStream {
    private let base: any RequestStream<Message>
    private let name: String

    init(_ base: any RequestStream<Message>, _ name: String) {
        self.base = base
        self.name = name
    }

    func send(_ message: Message) {
        Log.debug("\(name) -> \(LoggedTransport.name(of: message))")
        base.send(message)
    }

    func finish() { base.finish() }
    func cancel() { base.cancel() }
    func pause() { base.pause() }
    func resume() { base.resume() }
}
