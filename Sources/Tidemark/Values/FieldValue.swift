/// A change of a field that is not a plain value. Use it as a value in the data of `setData` and
/// `updateData`, but not inside an array.
public struct FieldValue: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case delete
        case transform(FieldTransform.Operation)
        case value(Value)
        /// The argument was not a value: the write that uses it throws.
        case invalid(FirestoreError)
    }

    let kind: Kind

    /// Removes the field. Allowed only in `updateData`, and in `setData` with `merge`.
    public static func delete() -> FieldValue { FieldValue(kind: .delete) }

    /// Sets the time at which the server processes the write, in milliseconds.
    public static func serverTimestamp() -> FieldValue {
        FieldValue(kind: .transform(.serverTimestamp))
    }

    /// Appends the elements that the array does not contain. A value that is not an array becomes
    /// one.
    public static func arrayUnion(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayUnion)
    }

    /// Removes every occurrence of the elements. A value that is not an array becomes an empty one.
    public static func arrayRemove(_ elements: [Any]) -> FieldValue {
        array(elements, FieldTransform.Operation.arrayRemove)
    }

    private static func array(
        _ elements: [Any], _ operation: ([Value]) -> FieldTransform.Operation
    ) -> FieldValue {
        do throws(FirestoreError) {
            return FieldValue(kind: .transform(operation(try ValueParser.elements(elements))))
        } catch { return FieldValue(kind: .invalid(error)) }
    }

    /// Adds to the number in the field, or sets the field if it has none. Integers saturate.
    ///
    /// If the answer to the write is lost and the write is sent again, Cloud Firestore can add the
    /// amount twice; `tidemark serve` adds it once. Use a transaction for an amount that must not
    /// be added twice.
    public static func increment(_ amount: Int64) -> FieldValue {
        FieldValue(kind: .transform(.increment(.integer(amount))))
    }

    /// Adds to the number in the field, or sets the field if it has none. The result is a double.
    ///
    /// If the answer to the write is lost and the write is sent again, Cloud Firestore can add the
    /// amount twice; `tidemark serve` adds it once. Use a transaction for an amount that must not
    /// be added twice.
    public static func increment(_ amount: Double) -> FieldValue {
        FieldValue(kind: .transform(.increment(.double(amount))))
    }

    /// Sets the lesser of the number in the field and this one; this one if the field has none.
    public static func minimum(_ value: Int64) -> FieldValue {
        FieldValue(kind: .transform(.minimum(.integer(value))))
    }

    public static func minimum(_ value: Double) -> FieldValue {
        FieldValue(kind: .transform(.minimum(.double(value))))
    }

    /// Sets the greater of the number in the field and this one; this one if the field has none.
    public static func maximum(_ value: Int64) -> FieldValue {
        FieldValue(kind: .transform(.maximum(.integer(value))))
    }

    public static func maximum(_ value: Double) -> FieldValue {
        FieldValue(kind: .transform(.maximum(.double(value))))
    }

    /// Returns an embedding.
    public static func vector(_ array: [Double]) -> VectorValue { VectorValue(array) }

    public static func vector(_ array: [Float]) -> VectorValue {
        VectorValue(array.map(Double.init))
    }
}
