import Foundation
import TidemarkModel

/// The two files that describe the contents of an export, with their encoding.
enum ExportMetadata {
    /// The contents of the overall file.
    struct Overall: Equatable {
        /// The path of the kind's file, relative to the overall file's folder.
        var kindFile: String
        var documents: Int
        var bytes: Int64
    }

    /// The contents of the kind's file.
    struct Kind: Equatable {
        var name: String
        /// The time, in microseconds since 1970.
        var time: Int64
        /// The files of documents, relative to the kind's file's folder.
        var outputs: [String]
    }

    /// The version that is written and read: "3".
    static let version: [UInt8] = [0x33]
    /// The maximum number of files of documents in a kind.
    static let maxOutputs = 100_000

    /// Returns the second record of the overall file. Nil is for an empty database, which has no
    /// kind.
    static func record(_ overall: Overall?) -> [UInt8] {
        var writer = WireWriter()
        guard let overall else { return [] }
        writer.message(1) { part in
            part.message(1) { kinds in
                kinds.tag(1, 0)
                kinds.varint(2)
                kinds.tag(3, 0)
                kinds.varint(3)
            }
            part.text(2, overall.kindFile)
            part.tag(3, 0)
            part.varint(UInt64(overall.documents))
            part.tag(4, 0)
            part.varint(UInt64(overall.bytes))
        }
        return writer.bytes
    }

    static func overall(_ record: [UInt8]) throws(EntityProblem) -> [Overall] {
        var parts: [Overall] = []
        try FieldScan.each(of: record) { field throws(EntityProblem) in
            guard field.number == 1, case .bytes(let bytes) = field.content else { return }
            var part = Overall(kindFile: "", documents: 0, bytes: 0)
            try FieldScan.each(of: bytes) { field throws(EntityProblem) in
                switch (field.number, field.content) {
                case (2, .bytes(let bytes)): part.kindFile = try text(bytes)
                case (3, .varint(let count)): part.documents = Int(clamping: count)
                case (4, .varint(let count)): part.bytes = Int64(clamping: count)
                default: break
                }
            }
            if !part.kindFile.isEmpty { parts.append(part) }
        }
        return parts
    }

    static func bytes(_ kind: Kind) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { part in
            part.text(1, kind.name)
            for field in [2, 3] as [UInt64] {
                part.tag(field, 0)
                part.varint(UInt64(bitPattern: kind.time))
            }
        }
        for output in kind.outputs {
            writer.message(2) { part in
                part.text(1, "")
                part.text(2, output)
            }
        }
        return writer.bytes
    }

    static func kind(_ bytes: [UInt8]) throws(EntityProblem) -> Kind {
        var kind = Kind(name: "", time: 0, outputs: [])
        try FieldScan.each(of: bytes) { field throws(EntityProblem) in
            guard case .bytes(let bytes) = field.content else { return }
            try FieldScan.each(of: bytes) { part throws(EntityProblem) in
                switch (field.number, part.number, part.content) {
                case (1, 1, .bytes(let bytes)): kind.name = try text(bytes)
                case (1, 2, .varint(let time)): kind.time = Int64(bitPattern: time)
                case (2, 2, .bytes(let bytes)): kind.outputs.append(try text(bytes))
                default: break
                }
            }
            if kind.outputs.count > maxOutputs {
                throw EntityProblem("There are more than \(maxOutputs) files.")
            }
        }
        return kind
    }

    private static func text(_ bytes: [UInt8]) throws(EntityProblem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw EntityProblem("A name is not UTF-8.")
        }
        return text
    }
}
