import Foundation
import TidemarkModel

/// Values as code for Tidemark's API, and for Google's libraries for JavaScript and Python.
struct ValueCode {
    let language: QueryCode.Language

    /// Returns a literal in JSON's form, which all three languages read in the same way.
    func quote(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let json = String(decoding: (try? encoder.encode(text)) ?? Data(), as: UTF8.self)
        return language == .Swift ? text.debugDescription : json
    }

    func code(_ value: Value) -> String {
        switch value {
        case .string(let text): quote(text)
        case .array(let values): "[" + values.map(code).joined(separator: ", ") + "]"
        case .null: literal("NSNull()", script: "null", python: "None")
        case .boolean(let flag):
            literal("\(flag)", script: "\(flag)", python: flag ? "True" : "False")
        case .integer(let number): "\(number)"
        case .double(let number):
            number.isNaN
                ? literal("Double.nan", script: "NaN", python: "float(\"nan\")") : "\(number)"
        case .timestamp(let time), .pendingServerTimestamp(let time, _):
            literal(
                "Timestamp(seconds: \(time.seconds), nanoseconds: \(time.nanoseconds))",
                script: "new Timestamp(\(time.seconds), \(time.nanoseconds))",
                python: "DatetimeWithNanoseconds.from_rfc3339(\"\(Self.long(time))\")")
        case .reference(let reference):
            literal(
                "firestore.document(\(quote(reference.path.text)))",
                script: "doc(db, \(quote(reference.path.text)))",
                python: "db.document(\(quote(reference.path.text)))")
        case .geoPoint(let point):
            literal(
                "GeoPoint(latitude: \(point.latitude), longitude: \(point.longitude))",
                script: "new GeoPoint(\(point.latitude), \(point.longitude))",
                python: "firestore.GeoPoint(\(point.latitude), \(point.longitude))")
        case .bytes(let bytes):
            literal(
                "Data(base64Encoded: \(quote(Data(bytes).base64EncodedString())))!",
                script: "Bytes.fromBase64String(\(quote(Data(bytes).base64EncodedString())))",
                python: "base64.b64decode(\(quote(Data(bytes).base64EncodedString())))")
        case .vector(let vector):
            literal(
                "VectorValue(\(vector.array))", script: "vector(\(vector.array))",
                python: "Vector(\(vector.array))"
            )
        case .map(let map):
            "{"
                + map.entries.map { quote($0.key) + ": " + code($0.value) }
                .joined(separator: ", ") + "}"
        }
    }

    func literal(_ swift: String, script: String, python: String) -> String {
        switch language {
        case .Swift: swift
        case .JavaScript: script
        case .Python: python
        }
    }

    /// Returns a time with a fraction, which Google's Python library requires.
    private static func long(_ time: Timestamp) -> String {
        let text = time.rfc3339
        return text.contains(".") ? text : String(text.dropLast()) + ".0Z"
    }
}
