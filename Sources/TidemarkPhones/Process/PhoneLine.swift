package import ExampleKit
package import Foundation

/// What a phone's process is told, a line of JSON each.
package enum PhoneOrder: Codable, Equatable, Sendable {
    case tap(id: String, text: String)
    case networkIsBack
    /// Seconds that the clock is ahead.
    case clock(Double)
    case close
}

/// What a phone's process says, a line of JSON each.
package enum PhoneNews: Codable, Equatable, Sendable {
    /// The app's `init` begins, so many milliseconds after its process was asked for.
    case begins(Double)
    /// With the milliseconds since its process was asked for.
    case screen(Screen, Double)
    case plan([String])
    /// A step of a sign-up, by its name.
    case reached(String)
}

/// Lines of JSON on a pipe.
package enum JSONLine {
    /// A longer line is no line of ours.
    static let maxBytes = 4 << 20

    package static func encode(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Texts and numbers: there is nothing in them that JSON cannot say.
        return ((try? encoder.encode(value)) ?? Data()) + Data("\n".utf8)
    }

    /// Nil for what is no value of that type.
    package static func decode<Value: Decodable>(_ type: Value.Type, _ line: Data) -> Value? {
        try? JSONDecoder().decode(type, from: line)
    }
}

/// Cuts what arrives into lines.
package struct LineCutter {
    private var rest = Data()

    package init() {}

    /// - Returns: The lines that are whole now, without their ends; nil when one is too long.
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

/// Reading of a pipe, on a thread that may wait.
enum PipeReading {
    /// What is written next; nil when the writer is gone, or the pipe broken.
    static func next(of handle: FileHandle) -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(handle.fileDescriptor, &buffer, buffer.count)
            if count > 0 { return Data(buffer[..<count]) }
            // A signal is no end.
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }
}
