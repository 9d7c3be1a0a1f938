package import TidemarkModel

// Converts values of an app's types to fields without a document.

extension Firestore.Encoder {
    /// - Throws: The errors of ``encode(_:)``, and `invalidArgument` for a value that only a write
    ///   can have: a server's time, an increment, or a deleted field.
    package func fields(of value: some Encodable) throws -> MapValue {
        let parsed = try ValueParser.fields(try written(value))
        guard parsed.transforms.isEmpty else {
            throw FirestoreError.invalidArgument(
                "A profile can only have values. A server time or an increment needs a write.")
        }
        return parsed.fields
    }
}

extension Firestore.Decoder {
    package func decode<T: Decodable>(_ type: T.Type, fromFields fields: MapValue) throws -> T {
        let bytes = FieldsCodec.encode(Value.map(fields))
        let source = DecodingSource(
            bytes, options: options, serverTimestamps: .none, reference: nil)
        return try StoredDecoder(source, try EncodedSlot.value(of: bytes)).decode(type)
    }
}
