// The used macros of SwiftUI, as a plugin of the compiler. The compiler sends requests to standard
// input and reads the answers from standard output. Each message is its length in eight bytes, then
// JSON.
//
// https://developer.apple.com/documentation/swiftui describes the expansions. The messages are
// those of SwiftSyntax's `PluginMessages.swift`. SwiftSyntax itself would take minutes to build.
import Foundation

let input = FileHandle.standardInput
let output = FileHandle.standardOutput

/// Returns nil if the compiler has closed its end.
func read(_ count: Int) throws -> Data? {
    var data = Data()
    while data.count < count {
        guard let more = try input.read(upToCount: count - data.count), !more.isEmpty else {
            return nil
        }
        data += more
    }
    return data
}

/// Returns nil at the end, which is a message of no bytes.
func receive() throws -> Request? {
    guard let length = try read(8) else { return nil }
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count > 0, let text = try read(count) else { return nil }
    return try JSONDecoder().decode(Request.self, from: text)
}

func send(_ answer: Answer) throws {
    let text = try JSONEncoder().encode(answer)
    let length = (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
    try output.write(contentsOf: Data(length) + text)
}

while let request = try receive() { try send(Macros.answer(request)) }
