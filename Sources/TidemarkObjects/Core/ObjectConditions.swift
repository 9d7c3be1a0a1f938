/// The version of an object that a call names, with the call's conditions.
package struct NamedVersion: Hashable, Sendable {
    package var conditions: ObjectConditions
    /// The only generation that the call means; nil for the present one.
    package var generation: Int64?

    package init(
        conditions: ObjectConditions = ObjectConditions(), generation: Int64? = nil
    ) {
        self.conditions = conditions
        self.generation = generation
    }

    /// Returns the object, if it is the named one and its conditions hold.
    ///
    /// - Throws: ``ObjectRefusal`` with status 404 if there is no such version, 412 if a condition
    ///   does not hold, or 304 for a read.
    func check(
        _ object: StoredObject?, at path: ObjectPath, isRead: Bool = false
    ) throws(ObjectRefusal) -> StoredObject {
        guard let object, generation == nil || generation == object.version.generation else {
            // A condition on an object that does not exist fails, except that it must not exist.
            if generation == nil { try conditions.check(nil, isRead: isRead) }
            throw .notFound(path)
        }
        try conditions.check(object.version, isRead: isRead)
        return object
    }
}

/// The preconditions of a call: the versions that an object must or must not have.
package struct ObjectConditions: Hashable, Sendable, Codable {
    /// The generation that the object must have; 0 for an object that must not exist.
    package var ifGenerationMatch: Int64?
    package var ifGenerationNotMatch: Int64?
    package var ifMetagenerationMatch: Int64?
    package var ifMetagenerationNotMatch: Int64?

    package init() {}

    package var isEmpty: Bool { self == ObjectConditions() }

    /// - Parameters:
    ///   - version: The present version; nil if the object does not exist.
    ///   - isRead: True for a read, for which a version that must not match is not an error.
    /// - Throws: ``ObjectRefusal`` with status 412, or 304 for a read.
    package func check(
        _ version: ObjectVersion?, isRead: Bool = false
    ) throws(ObjectRefusal) {
        let generation = version?.generation ?? 0
        if let ifGenerationMatch, ifGenerationMatch != generation { throw .conditionNotMet }
        if let ifMetagenerationMatch, ifMetagenerationMatch != version?.metageneration {
            throw .conditionNotMet
        }
        let excluded: ObjectRefusal = isRead ? .notModified : .conditionNotMet
        if let ifGenerationNotMatch, ifGenerationNotMatch == generation { throw excluded }
        if let ifMetagenerationNotMatch, ifMetagenerationNotMatch == version?.metageneration {
            throw excluded
        }
    }
}
