/// The protobuf form of `ExecutePipelineRequest`, with the parts that other codecs read still
/// encoded.
package struct PipelineEnvelope: Hashable, Sendable {
    /// The absolute name of the database.
    package var database = ""
    package var pipeline: Pipeline?
    package var options: [Pipeline.Entry] = []
    package var consistency: Consistency?
    package var commitsTransaction = false

    /// The alternatives of `consistency_selector`.
    package enum Consistency: Hashable, Sendable {
        case transaction([UInt8])
        /// An encoded `TransactionOptions`.
        case newTransaction([UInt8])
        case readTime(Timestamp)
    }

    package init() {}

    package init(_ bytes: [UInt8]) throws(CodecError) {
        self = try FieldsCodec.read(bytes) { reader throws(CodecError) in
            var envelope = PipelineEnvelope()
            while !reader.isAtEnd { try envelope.take(&reader) }
            return envelope
        }
    }

    /// Reads one field. Of several alternatives, the last one counts.
    private mutating func take(_ reader: inout WireReader) throws(CodecError) {
        let tag = try reader.tag()
        switch tag {
        case 1 << 3 | 2: database = try reader.text()
        case 2 << 3 | 2:
            var inner = try reader.message()
            try takeStructured(&inner)
        case 5 << 3 | 2: consistency = .transaction(Array(try reader.lengthDelimited()))
        case 6 << 3 | 2: consistency = .newTransaction(Array(try reader.lengthDelimited()))
        case 7 << 3 | 2:
            var inner = try reader.message()
            consistency = .readTime(try FieldsCodec.timestamp(&inner))
        case 9 << 3 | 0: commitsTransaction = try reader.varint() != 0
        default: try reader.skip(tag)
        }
    }

    /// Reads a `StructuredPipeline`. A structured pipeline without a pipeline has no stages.
    private mutating func takeStructured(_ reader: inout WireReader) throws(CodecError) {
        if pipeline == nil { pipeline = Pipeline(stages: []) }
        while !reader.isAtEnd {
            let tag = try reader.tag()
            switch tag {
            case 1 << 3 | 2:
                var inner = try reader.message()
                pipeline?.stages += try PipelineCodec.pipeline(&inner, depth: 0).stages
            case 2 << 3 | 2: options.append(try PipelineCodec.entry(&reader, depth: 0))
            default: try reader.skip(tag)
            }
        }
        options = PipelineCodec.unique(options)
    }

    package var bytes: [UInt8] {
        var writer = WireWriter()
        writer.text(1, database)
        if let pipeline {
            writer.message(2) { writer in
                writer.message(1) { PipelineCodec.write(pipeline, to: &$0) }
                PipelineCodec.write(options, as: 2, to: &writer)
            }
        }
        switch consistency {
        case .transaction(let id)?: writer.data(5, id)
        case .newTransaction(let options)?: writer.data(6, options)
        case .readTime(let time)?: writer.message(7) { FieldsCodec.write(time, to: &$0) }
        case nil: break
        }
        if commitsTransaction {
            writer.tag(9, 0)
            writer.varint(1)
        }
        return writer.bytes
    }
}

/// The protobuf form of `ExecutePipelineResponse`.
package struct PipelineResponse: Hashable, Sendable {
    package var transaction: [UInt8] = []
    package var results: [WireDocument] = []
    package var executionTime: Timestamp?
    package var explanation: String?

    /// The type of an explanation inside its `Any`.
    package static let explanationType = "type.googleapis.com/google.protobuf.StringValue"

    package init() {}

    package init(_ bytes: [UInt8]) throws(CodecError) {
        self = try FieldsCodec.read(bytes) { reader throws(CodecError) in
            var response = PipelineResponse()
            while !reader.isAtEnd { try response.take(&reader) }
            return response
        }
    }

    private mutating func take(_ reader: inout WireReader) throws(CodecError) {
        let tag = try reader.tag()
        switch tag {
        case 1 << 3 | 2: transaction = Array(try reader.lengthDelimited())
        case 2 << 3 | 2:
            let document = UnsafeRawBufferPointer(try reader.lengthDelimited())
            results.append(try DocumentCodec.decode(document))
        case 3 << 3 | 2:
            var inner = try reader.message()
            executionTime = try FieldsCodec.timestamp(&inner)
        case 4 << 3 | 2:
            // An ExplainStats holds an Any, which holds a StringValue. In both, the contents that
            // count are a single field of bytes.
            guard let packed = try Self.field(1, of: try reader.message()),
                let value = try Self.field(2, of: WireReader(packed))
            else { return }
            explanation =
                try Self.field(1, of: WireReader(value))
                .map { bytes throws(CodecError) in try WireReader.text(bytes) } ?? ""
        default: try reader.skip(tag)
        }
    }

    /// Returns the last field of bytes with a number; nil if there is none.
    private static func field(
        _ number: UInt64, of message: WireReader
    ) throws(CodecError) -> UnsafeBufferPointer<UInt8>? {
        var reader = message
        var found: UnsafeBufferPointer<UInt8>?
        while !reader.isAtEnd {
            let tag = try reader.tag()
            if tag == number << 3 | 2 {
                found = try reader.lengthDelimited()
            } else {
                try reader.skip(tag)
            }
        }
        return found
    }

    package var bytes: [UInt8] {
        var writer = WireWriter()
        if !transaction.isEmpty { writer.data(1, transaction) }
        for document in results { writer.data(2, DocumentCodec.encode(document)) }
        if let executionTime {
            writer.message(3) { FieldsCodec.write(executionTime, to: &$0) }
        }
        if let explanation {
            writer.message(4) { writer in
                writer.message(1) { writer in
                    writer.text(1, Self.explanationType)
                    writer.message(2) { $0.text(1, explanation) }
                }
            }
        }
        return writer.bytes
    }
}
