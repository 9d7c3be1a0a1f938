import Foundation
import NIOCore
import Synchronization

// The protocol at a place, from the first bytes of its answer.

extension NetworkProbe {
    struct Speech: Sendable {
        let finding: Evidence.Speaking
        let detail: String
        /// The seconds by which this device's clock is ahead, from the date of an HTTP answer.
        var clockAhead: Int64?
    }

    /// Sends a greeting in HTTP/2, and examines the answer.
    func speak(_ place: ProbedPlace, usesTLS: Bool) async -> Speech {
        // The greeting is the preface and an empty SETTINGS frame.
        let hello = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        return await say(hello, to: place, tls: usesTLS ? TLS() : nil)
    }

    /// Asks the other side, trusted or not, for the page of its name. The answer shows the time,
    /// and possibly a login page. Only that name is sent.
    func ask(_ place: ProbedPlace) async -> Speech {
        let host = place.host.contains(":") ? "[\(place.host)]" : place.host
        let request = "GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
        return await say(
            Array(request.utf8), to: place, tls: TLS(trust: .anybody, protocols: ["http/1.1"]))
    }

    private func say(_ bytes: [UInt8], to place: ProbedPlace, tls: TLS?) async -> Speech {
        await step { () async -> Speech in
            let answer = loop.makePromise(of: [UInt8].self)
            do {
                let channel = try await connection(to: place, tls: tls) { FirstWords(answer) }
                channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil)
                defer { channel.close(promise: nil) }
                return Self.speech(try await answer.futureResult.get(), now: now())
            } catch {
                answer.fail(error)
                return Speech(finding: .closed, detail: "closed: \(type(of: error))")
            }
        } ?? Speech(finding: .closed, detail: "closed")
    }

    /// Classifies the first bytes of an answer.
    static func speech(_ bytes: [UInt8], now: Int64) -> Speech {
        if bytes.isEmpty { return Speech(finding: .closed, detail: "closed without an answer") }
        if bytes.count >= 4, bytes[3] == 4 { return Speech(finding: .http2, detail: "HTTP/2") }
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
            return Speech(finding: .otherProtocol, detail: "\(bytes.count) bytes that are not HTTP")
        }
        func header(_ name: String) -> String? {
            lines.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
        let place = header("location").map { " to \($0)" } ?? ""
        let isPage = (header("content-type") ?? "").lowercased().hasPrefix("text/html")
        return Speech(
            finding: finding(status, isPage: isPage), detail: "HTTP status \(status)\(place)",
            clockAhead: header("date").flatMap(Self.httpDate).map { now - $0 })
    }

    private static func finding(_ status: Int, isPage: Bool) -> Evidence.Speaking {
        switch status {
        case 200 where isPage: .redirected
        case 300..<400, 511: .redirected
        case 407: .proxyAsks
        case 429: .exhausted
        case 502...504: .gatewayFails
        default: .otherProtocol
        }
    }

    private static func httpDate(_ text: String) -> Int64? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text).map { Int64($0.timeIntervalSince1970) }
    }
}

/// Collects the first bytes of an answer; none if the connection ends before. For HTTP, collects
/// the complete head of an answer, even if it arrives in pieces.
private final class FirstWords: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<[UInt8]>
    private let heard = Mutex<[UInt8]>([])

    init(_ answer: EventLoopPromise<[UInt8]>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = heard.withLock { heard in
            heard += unwrapInboundIn(data).readableBytesView.prefix(
                NetworkProbe.maxAnswer - heard.count)
            return heard
        }
        if Self.isEnough(bytes) { answer.succeed(bytes) }
    }

    private static func isEnough(_ bytes: [UInt8]) -> Bool {
        if bytes.first != UInt8(ascii: "H") { return bytes.count >= 4 }
        return bytes.count == NetworkProbe.maxAnswer
            || String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n")
    }

    func channelInactive(context: ChannelHandlerContext) { answer.succeed(heard.withLock { $0 }) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.succeed(heard.withLock { $0 })
        context.close(promise: nil)
    }
}
