package import TidemarkModel

/// The metadata of an object that its writers choose.
package struct ObjectFields: Hashable, Sendable, Codable {
    /// The maximum size of custom metadata: the sum of its keys and values, in bytes.
    package static let maxCustomBytes = 8_192
    /// The maximum size of any other field, in bytes.
    package static let maxFieldBytes = 2_048

    package var contentType: String?
    package var contentEncoding: String?
    package var contentDisposition: String?
    package var contentLanguage: String?
    package var cacheControl: String?
    /// A time in the form of RFC 3339, which this server stores and does not interpret.
    package var customTime: String?
    package var custom = CustomMetadata()

    package init() {}

    /// - Throws: ``ObjectRefusal`` with status 400 if a field is too long, or has a character that
    ///   a header cannot carry.
    package func check() throws(ObjectRefusal) {
        for text in [
            contentType, contentEncoding, contentDisposition, contentLanguage, cacheControl,
            customTime,
        ] {
            guard let text else { continue }
            if text.utf8.count > Self.maxFieldBytes {
                throw .invalid("A field of the metadata has more than 2048 bytes.")
            }
            if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw .invalid("A field of the metadata contains a control character.")
            }
        }
        var bytes = 0
        for (name, text) in custom.inOrder { bytes += name.utf8.count + text.utf8.count }
        if bytes > Self.maxCustomBytes {
            throw .invalid("The custom metadata has more than 8192 bytes.")
        }
    }
}

/// A change of an object's metadata.
package struct ObjectPatch: Hashable, Sendable {
    /// A field that stays, or that is set, or that is removed.
    package enum Change<Value: Hashable & Sendable>: Hashable, Sendable {
        case keep
        case set(Value)
        case remove

        func apply(to value: inout Value?) {
            switch self {
            case .keep: break
            case .set(let new): value = new
            case .remove: value = nil
            }
        }
    }

    package var contentType = Change<String>.keep
    package var contentEncoding = Change<String>.keep
    package var contentDisposition = Change<String>.keep
    package var contentLanguage = Change<String>.keep
    package var cacheControl = Change<String>.keep
    package var customTime = Change<String>.keep
    /// The changed keys of the custom metadata. A nil value removes its key.
    package var custom: [ByteString: String?] = [:]
    /// True if keys that are not in ``custom`` are removed.
    package var replacesCustom = false
    /// The new download tokens; nil keeps them.
    package var tokens: [String]?

    package init() {}

    func apply(to fields: inout ObjectFields) {
        contentType.apply(to: &fields.contentType)
        contentEncoding.apply(to: &fields.contentEncoding)
        contentDisposition.apply(to: &fields.contentDisposition)
        contentLanguage.apply(to: &fields.contentLanguage)
        cacheControl.apply(to: &fields.cacheControl)
        customTime.apply(to: &fields.customTime)
        if replacesCustom { fields.custom = [:] }
        for (name, text) in custom { fields.custom[name.text] = text }
    }
}
