import Foundation

/// Base 64, of a URL too; what is left out at the end is taken as there.
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

/// Times as RFC 3339 writes them.
enum UTCText {
    static func text(milliseconds: Int64) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
    }
}

/// Text as a part of a URL has it.
enum URLText {
    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
