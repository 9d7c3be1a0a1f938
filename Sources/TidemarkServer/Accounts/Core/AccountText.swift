import Foundation
import TidemarkStore

/// Encodes and decodes base64, also in the form for URLs. Missing padding at the end is accepted.
enum Base64 {
    static func text(_ bytes: [UInt8], isURL: Bool = false) -> String {
        let text = Data(bytes).base64EncodedString()
        guard isURL else { return text }
        return text.replacing("+", with: "-").replacing("/", with: "_")
    }

    static func bytes(_ text: String) -> [UInt8]? {
        var plain = text.replacing("-", with: "+").replacing("_", with: "/")
        while !plain.utf8.count.isMultiple(of: 4) { plain += "=" }
        return Data(base64Encoded: plain).map { [UInt8]($0) }
    }
}

/// Writes times in the form of RFC 3339.
enum UTCText {
    static func text(milliseconds: Int64) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
    }
}

/// Escapes text for a part of a URL.
enum URLText {
    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

/// Creates a file that no other user of the machine may read. SQLite gives the same mode to the
/// files that it adds.
enum PrivateFile {
    static func make(_ path: String) throws(StoreError) {
        let files = FileManager.default
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        do {
            try files.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                withIntermediateDirectories: true)
            if files.fileExists(atPath: path) {
                try files.setAttributes(mode, ofItemAtPath: path)
            } else if !files.createFile(atPath: path, contents: nil, attributes: mode) {
                throw StoreError.unreadable(detail: "\(path) cannot be made")
            }
        } catch { throw error as? StoreError ?? .unreadable(detail: "\(error)") }
    }
}
