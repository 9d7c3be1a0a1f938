import Foundation
import Synchronization

/// A line that a client writes for its developer.
public struct LogLine: Hashable, Sendable {
    public enum Level: String, Hashable, Sendable {
        /// What is sent and heard, while logging is on: kinds and counts, and nothing of a person.
        case debug
        /// Something went wrong that no caller is told. Its text may name fields and documents.
        case fault
    }

    public let level: Level
    public let text: String

    public init(level: Level, text: String) {
        self.level = level
        self.text = text
    }
}

/// Where a client writes for its developer.
public struct LogSink: Sendable {
    let write: @Sendable (LogLine) -> Void

    /// - Parameter write: Called on the thread that logs, one that must not be held up; it must not use a
    ///   client.
    public init(_ write: @escaping @Sendable (LogLine) -> Void) { self.write = write }

    /// The standard error stream, with the time.
    public static let standardError = LogSink { line in
        let time = Timestamp(date: Date()).rfc3339
        let text = "tidemark \(time) \(line.level.rawValue): \(line.text)\n"
        FileHandle.standardError.write(Data(text.utf8))
    }
}

/// What a client tells the developer, on the standard error stream or where the app wants it.
enum Log {
    private static let isDebugging = Atomic(false)
    private static let sink = Mutex(LogSink.standardError)

    static func write(to sink: LogSink) { Self.sink.withLock { $0 = sink } }

    static func enable(_ isEnabled: Bool) { isDebugging.store(isEnabled, ordering: .relaxed) }

    static var isEnabled: Bool { isDebugging.load(ordering: .relaxed) }

    /// Something went wrong that no caller is told.
    static func fault(_ text: String) { write(.fault, text) }

    /// Only when logging is on.
    static func debug(_ text: @autoclosure () -> String) {
        if isEnabled { write(.debug, text()) }
    }

    private static func write(_ level: LogLine.Level, _ text: String) {
        sink.withLock(\.self).write(LogLine(level: level, text: text))
    }
}

/// Logs what goes through a transport; costs a look at a flag while logging is off.
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
        return LoggedStream(base.listen(context) { Self.log("listen", $0, receive) }, "listen")
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        Log.debug("write stream opened")
        return LoggedStream(base.write(context) { Self.log("write", $0, receive) }, "write")
    }

    private static func log<Message>(
        _ stream: String, _ event: StreamEvent<Message>, _ receive: (StreamEvent<Message>) -> Void
    ) {
        switch event {
        case .message(let message): Log.debug("\(stream) <- \(name(of: message))")
        case .ended(let status): Log.debug("\(stream) stream ended: \(status.code)")
        }
        receive(event)
    }

    /// The kind of a message, without what it holds.
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
