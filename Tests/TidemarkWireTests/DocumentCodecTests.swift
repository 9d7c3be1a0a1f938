import Foundation
import SwiftProtobuf
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Compares the model's codecs with SwiftProtobuf's own messages.
struct DocumentCodecTests {
    @Test(arguments: UInt64(0)..<300)
    func `protobuf reads what the codec wrote, and the other way round`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let document = generator.document()
        let wire = WireDocument(
            name: document.path.name(in: database), contents: document.contents,
            createTime: document.createTime, updateTime: document.updateTime)
        let expected = PBDocument.with {
            $0.name = wire.name
            $0.fields = document.fields.proto
            $0.createTime = document.createTime.proto
            $0.updateTime = document.updateTime.proto
        }
        let read = try PBDocument(serializedBytes: DocumentCodec.encode(wire))
        // The test compares bytes, because a NaN is not equal to itself.
        #expect(try read.canonical == expected.canonical, "seed \(seed)")
        let written: [UInt8] = try expected.serializedBytes()
        #expect(try written.withUnsafeBytes { try DocumentCodec.decode($0) } == wire)
    }

    @Test(arguments: UInt64(0)..<100)
    func `arrays are what protobuf makes of them`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let values = generator.list(upTo: 5) { $0.value() }
        let expected = PBArrayValue.with { $0.values = values.map(\.proto) }
        #expect(
            try PBArrayValue(serializedBytes: DocumentCodec.encode(values)).canonical
                == expected.canonical)
        #expect(try DocumentCodec.decodeArray(expected.serializedBytes()) == values)
    }

    @Test func `a document that ends too early is refused`() throws {
        let bytes = Array(
            DocumentCodec.encode(
                WireDocument(
                    name: "n", contents: EncodedFields(["a": .integer(1)]),
                    updateTime: Timestamp(seconds: 1, nanoseconds: 1))
            ).dropLast())
        #expect(throws: CodecError.truncated) {
            try bytes.withUnsafeBytes { try DocumentCodec.decode($0) }
        }
    }
}

extension Message {
    var canonical: [UInt8] {
        get throws {
            var options = BinaryEncodingOptions()
            options.useDeterministicOrdering = true
            return try serializedBytes(options: options)
        }
    }
}

extension Timestamp {
    fileprivate var proto: Google_Protobuf_Timestamp {
        Google_Protobuf_Timestamp(seconds: seconds, nanos: nanoseconds)
    }
}

extension MapValue {
    /// The generator makes no map with two keys that are canonically equal. A dictionary cannot
    /// hold both.
    fileprivate var proto: [String: PBValue] {
        Dictionary(entries.map { ($0.key, $0.value.proto) }) { first, _ in first }
    }
}

extension Value {
    var proto: PBValue {
        PBValue.with { wire in
            switch self {
            case .null: wire.nullValue = .nullValue
            case .boolean(let value): wire.booleanValue = value
            case .integer(let value): wire.integerValue = value
            case .double(let value): wire.doubleValue = value
            case .timestamp(let time): wire.timestampValue = time.proto
            case .string(let text): wire.stringValue = text
            case .bytes(let bytes): wire.bytesValue = Data(bytes)
            case .reference(let reference): wire.referenceValue = reference.name
            case .geoPoint(let point):
                wire.geoPointValue = .with {
                    $0.latitude = point.latitude
                    $0.longitude = point.longitude
                }
            case .array(let values): wire.arrayValue = .with { $0.values = values.map(\.proto) }
            case .map(let fields): wire.mapValue = .with { $0.fields = fields.proto }
            case .vector(let vector):
                let values = Value.array(vector.array.map(Value.double)).proto
                wire.mapValue = .with {
                    $0.fields = ["__type__": Value.string("__vector__").proto, "value": values]
                }
            case .pendingServerTimestamp: preconditionFailure("the generator makes none")
            }
        }
    }
}
