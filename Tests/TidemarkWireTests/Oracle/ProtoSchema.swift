import Foundation

/// The messages that the files in `Proto/` declare.
struct ProtoSchema: Sendable {
    struct Field: Sendable {
        let name: String
        let number: UInt64
        let type: FieldType
        let isRepeated: Bool
    }

    indirect enum FieldType: Sendable {
        case text, bytes, bool, int32, int64, double
        case message(String)
        /// A map from texts.
        case map(FieldType)

        var isNumber: Bool {
            switch self {
            case .bool, .int32, .int64: true
            default: false
            }
        }
    }

    /// A field as it is written: the name of its type can be relative to its message.
    private struct Declaration {
        let name: String
        let number: UInt64
        let type: String
        let isRepeated: Bool
        let isMap: Bool
    }

    private(set) var messages: [String: [Field]] = [:]
    private var declarations: [String: [Declaration]] = [:]
    private var enums: Set<String> = []

    /// The files for which Swift code is generated.
    static let contract: ProtoSchema = {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Proto")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)!
        let texts = files.compactMap { $0 as? URL }
            .filter { $0.pathExtension == "proto" }
            .filter { !["pipeline.proto", "service.proto"].contains($0.lastPathComponent) }
            .map { try! String(contentsOf: $0, encoding: .utf8) }
        return ProtoSchema(texts + [standard])
    }()

    init(_ texts: [String]) {
        for text in texts { read(text) }
        for (message, fields) in declarations {
            messages[message] = fields.map { field in
                let value = type(field.type, in: message)
                return Field(
                    name: field.name, number: field.number,
                    type: field.isMap ? .map(value) : value, isRepeated: field.isRepeated)
            }
        }
    }

    private func type(_ name: String, in message: String) -> FieldType {
        switch name {
        case "string": return .text
        case "bytes": return .bytes
        case "bool": return .bool
        case "int32": return .int32
        case "int64": return .int64
        case "double": return .double
        default: break
        }
        var scope = message.split(separator: ".")
        while true {
            let full = (scope + [Substring(name)]).joined(separator: ".")
            if enums.contains(full) { return .int32 }
            if declarations[full] != nil { return .message(full) }
            precondition(!scope.isEmpty, "\(message): \(name) is not declared")
            scope.removeLast()
        }
    }

    private mutating func read(_ text: String) {
        var words = Words(text)
        var package = ""
        while let word = words.next() {
            switch word {
            case "package":
                package = words.next()!
                words.skip(past: ";")
            case "message": readMessage(package + "." + words.next()!, &words)
            case "enum": readEnum(package + "." + words.next()!, &words)
            default: words.skip(past: ";")
            }
        }
    }

    private mutating func readEnum(_ name: String, _ words: inout Words) {
        enums.insert(name)
        words.skip(past: "}")
    }

    private mutating func readMessage(_ name: String, _ words: inout Words) {
        words.skip(past: "{")
        declarations[name] = []
        var isInChoice = false
        while let word = words.next() {
            switch word {
            case "message": readMessage(name + "." + words.next()!, &words)
            case "enum": readEnum(name + "." + words.next()!, &words)
            case "oneof":
                words.skip(past: "{")
                isInChoice = true
            case "}" where isInChoice: isInChoice = false
            case "}": return
            default: readField(word, of: name, &words)
            }
        }
    }

    private mutating func readField(_ first: String, of message: String, _ words: inout Words) {
        let isRepeated = first == "repeated"
        var type = isRepeated ? words.next()! : first
        let isMap = type == "map"
        if isMap {
            words.skip(past: ",")
            type = words.next()!
            words.skip(past: ">")
        }
        let name = words.next()!
        words.skip(past: "=")
        let number = UInt64(words.next()!)!
        words.skip(past: ";")
        declarations[message]!.append(
            Declaration(
                name: name, number: number, type: type, isRepeated: isRepeated, isMap: isMap))
    }

    /// The words and punctuation marks of a file, without comments.
    private struct Words {
        private var rest: [String]

        init(_ text: String) {
            var words: [String] = []
            for line in text.split(separator: "\n") {
                let code = line.components(separatedBy: "//")[0]
                var word = ""
                for character in code + " " {
                    if character.isLetter || character.isNumber || "_.\"/".contains(character) {
                        word.append(character)
                        continue
                    }
                    if !word.isEmpty { words.append(word) }
                    word = ""
                    if !character.isWhitespace { words.append(String(character)) }
                }
            }
            rest = words.reversed()
        }

        mutating func next() -> String? { rest.popLast() }

        mutating func skip(past mark: String) {
            while let word = next(), word != mark {}
        }
    }

    /// The messages of protobuf itself that the contract uses.
    private static let standard = """
        package google.protobuf;
        message Timestamp { int64 seconds = 1; int32 nanos = 2; }
        message Duration { int64 seconds = 1; int32 nanos = 2; }
        message Int32Value { int32 value = 1; }
        message Int64Value { int64 value = 1; }
        message DoubleValue { double value = 1; }
        message Any { string type_url = 1; bytes value = 2; }
        enum NullValue { NULL_VALUE = 0; }
        message Struct { map<string, Value> fields = 1; }
        message Value {
          oneof kind {
            NullValue null_value = 1;
            double number_value = 2;
            string string_value = 3;
            bool bool_value = 4;
            Struct struct_value = 5;
            ListValue list_value = 6;
          }
        }
        message ListValue { repeated Value values = 1; }
        """
}
