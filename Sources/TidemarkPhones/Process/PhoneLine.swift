package import ExampleKit
package import Foundation

/// The orders to a phone's process, one line of JSON each.
package enum PhoneOrder: Codable, Equatable, Sendable {
    case tap(id: String, text: String)
    case networkIsBack
    /// Sets the time by which the clock is ahead, in seconds.
    case clock(Double)
    case close
}

/// The reports of a phone's process, one line of JSON each.
package enum PhoneNews: Codable, Equatable, Sendable {
    /// The app's `init` begins, with the milliseconds since the process was requested.
    case begins(Double)
    /// A screen, with the milliseconds since the process was requested.
    case screen(Screen, Double)
    case plan([String])
    /// A step of a sign-up, with its name.
    case reached(String)
}

/// Encodes and decodes lines of JSON on a pipe.
package enum JSONLine {
    /// The maximum length of a line in bytes. A longer line is not from this program.
    static let maxBytes = 4 << 20

    package static func encode(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding cannot fail, because there are only texts and numbers.
        return ((try? encoder.encode(value)) ?? Data()) + Data("\n".utf8)
    }

    /// Returns nil if the line is not a value of that type.
    package static func decode<Value: Decodable>(_ type: Value.Type, _ line: Data) -> Value? {
        try? JSONDecoder().decode(type, from: line)
    }
}

/// Splits received bytes into lines.
package struct LineCutter {
    private var rest = Data()

    package init() {}

    /// - Returns: The complete lines without their line ends; nil if a line is too long.
    package mutating func add(_ data: Data) -> [Data]? {
        rest += data
        var lines: [Data] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(Data(rest[rest.startIndex..<end]))
            rest = Data(rest[(end + 1)...])
        }
        return rest.count > JSONLine.maxBytes ? nil : lines
    }
}

/// Reads a pipe, on a thread that may block.
enum PipeReading {
    /// Returns the next bytes; nil if the writer has ended or the pipe is broken.
    static func next(of handle: FileHandle) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(handle.fileDescriptor, &buffer, buffer.count)
            if count > 0 { return Data(buffer[..<count]) }
            // A signal interrupted the read, which is repeated.
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }
}
