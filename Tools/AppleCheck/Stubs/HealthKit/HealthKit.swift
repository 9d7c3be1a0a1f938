// https://developer.apple.com/documentation/healthkit
public import Foundation
import Synchronization

// MARK: - Types

/// https://developer.apple.com/documentation/healthkit/hkquantitytypeidentifier
public struct HKQuantityTypeIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/healthkit/hkcategorytypeidentifier
public struct HKCategoryTypeIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// https://developer.apple.com/documentation/healthkit/hkobjecttype
open class HKObjectType: NSObject, @unchecked Sendable {  // Immutable.
    public let identifier: String
    fileprivate init(_ identifier: String) { self.identifier = identifier }

    /// https://developer.apple.com/documentation/healthkit/hkobjecttype/stateofmindtype()
    public class func stateOfMindType() -> HKStateOfMindType {
        HKStateOfMindType("HKDataTypeStateOfMind")
    }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? HKObjectType)?.identifier == identifier
    }
    open override var hash: Int { identifier.hashValue }
}

/// https://developer.apple.com/documentation/healthkit/hksampletype
open class HKSampleType: HKObjectType, @unchecked Sendable {}  // Immutable.

/// https://developer.apple.com/documentation/healthkit/hkquantitytype
public final class HKQuantityType: HKSampleType, @unchecked Sendable {  // Immutable.
    public convenience init(_ identifier: HKQuantityTypeIdentifier) {
        self.init(stub: identifier.rawValue)
    }
    private init(stub identifier: String) { super.init(identifier) }
}

/// https://developer.apple.com/documentation/healthkit/hkcategorytype
public final class HKCategoryType: HKSampleType, @unchecked Sendable {  // Immutable.
    public convenience init(_ identifier: HKCategoryTypeIdentifier) {
        self.init(stub: identifier.rawValue)
    }
    private init(stub identifier: String) { super.init(identifier) }
}

/// https://developer.apple.com/documentation/healthkit/hkstateofmindtype
public final class HKStateOfMindType: HKSampleType, @unchecked Sendable {}  // Immutable.

// MARK: - Samples

/// https://developer.apple.com/documentation/healthkit/hkunit
public final class HKUnit: NSObject, Sendable {
    public let unitString: String
    /// https://developer.apple.com/documentation/healthkit/hkunit/init(from:)-2rcvs
    public init(from string: String) {
        // HealthKit's own initializer raises an exception for an unknown unit.
        precondition(
            ["count", "kcal", "m", "min", "count/min", "ms", "%", "kg"].contains(string), string)
        unitString = string
    }
}

/// https://developer.apple.com/documentation/healthkit/hkquantity
public final class HKQuantity: NSObject, Sendable {
    private let unit: String
    private let value: Double
    public init(unit: HKUnit, doubleValue value: Double) {
        self.unit = unit.unitString
        self.value = value
    }
    /// https://developer.apple.com/documentation/healthkit/hkquantity/doublevalue(for:)
    public func doubleValue(for unit: HKUnit) -> Double {
        // HealthKit's own function converts between units of one kind, and raises an exception for
        // other units.
        precondition(unit.unitString == self.unit)
        return value
    }
}

/// https://developer.apple.com/documentation/healthkit/hksource
public final class HKSource: NSObject, Sendable {
    public let name: String
    public init(stub name: String) { self.name = name }
}

/// https://developer.apple.com/documentation/healthkit/hksourcerevision
public final class HKSourceRevision: NSObject, Sendable {
    public let source: HKSource
    public let productType: String?
    public init(stub source: HKSource, productType: String?) {
        (self.source, self.productType) = (source, productType)
    }
}

/// https://developer.apple.com/documentation/healthkit/hksample
open class HKSample: NSObject, @unchecked Sendable {  // Immutable.
    public let uuid: UUID
    public let sampleType: HKSampleType
    public let startDate: Date
    public let endDate: Date
    public let metadata: [String: Any]?
    public let sourceRevision: HKSourceRevision

    fileprivate init(
        _ type: HKSampleType, from start: Date, to end: Date, source: HKSourceRevision,
        metadata: [String: Any]?
    ) {
        uuid = UUID()
        sampleType = type
        (startDate, endDate, sourceRevision) = (start, end, source)
        self.metadata = metadata
    }
}

/// https://developer.apple.com/documentation/healthkit/hkquantitysample
public final class HKQuantitySample: HKSample, @unchecked Sendable {  // Immutable.
    public let quantity: HKQuantity
    public init(
        stub type: HKQuantityType, _ quantity: HKQuantity, from start: Date, to end: Date,
        source: HKSourceRevision, metadata: [String: Any]? = nil
    ) {
        self.quantity = quantity
        super.init(type, from: start, to: end, source: source, metadata: metadata)
    }
}

/// https://developer.apple.com/documentation/healthkit/hkcategorysample
public final class HKCategorySample: HKSample, @unchecked Sendable {  // Immutable.
    public let value: Int
    public init(
        stub type: HKCategoryType, _ value: Int, from start: Date, to end: Date,
        source: HKSourceRevision
    ) {
        self.value = value
        super.init(type, from: start, to: end, source: source, metadata: nil)
    }
}

/// https://developer.apple.com/documentation/healthkit/hkstateofmind
public final class HKStateOfMind: HKSample, @unchecked Sendable {  // Immutable.
    public let valence: Double
    public init(stub valence: Double, _ date: Date, _ source: HKSourceRevision) {
        self.valence = valence
        super.init(
            HKObjectType.stateOfMindType(), from: date, to: date, source: source, metadata: nil)
    }
}

/// https://developer.apple.com/documentation/healthkit/hkdeletedobject
public final class HKDeletedObject: NSObject, Sendable {
    public let uuid: UUID
    public init(stub uuid: UUID) { self.uuid = uuid }
}

/// https://developer.apple.com/documentation/healthkit/hkqueryanchor
public final class HKQueryAnchor: NSObject, NSSecureCoding, Sendable {
    public static var supportsSecureCoding: Bool { true }
    fileprivate let place: Int
    fileprivate init(_ place: Int) { self.place = place }
    public init?(coder: NSCoder) { place = coder.decodeInteger(forKey: "place") }
    public func encode(with coder: NSCoder) { coder.encode(place, forKey: "place") }
}

// MARK: - Queries

/// https://developer.apple.com/documentation/healthkit/hkqueryoptions
public struct HKQueryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let strictStartDate = HKQueryOptions(rawValue: 1)
}

/// https://developer.apple.com/documentation/healthkit/hkquery
open class HKQuery: NSObject, @unchecked Sendable {  // Immutable.
    fileprivate let type: HKSampleType
    fileprivate let filter: NSPredicate?
    fileprivate init(_ type: HKSampleType, _ filter: NSPredicate?) {
        (self.type, self.filter) = (type, filter)
    }

    /// https://developer.apple.com/documentation/healthkit/hkquery/
    /// predicateforsamples(withstart:end:options:)
    public class func predicateForSamples(
        withStart startDate: Date?, end endDate: Date?, options: HKQueryOptions = []
    ) -> NSPredicate {
        precondition(options == .strictStartDate, "no other is played")
        return NSPredicate(block: { sample, _ in
            guard let start = (sample as? HKSample)?.startDate else { return false }
            return startDate! <= start && start < endDate!
        })
    }
}

/// https://developer.apple.com/documentation/healthkit/hkanchoredobjectquery
public final class HKAnchoredObjectQuery: HKQuery, @unchecked Sendable {  // Immutable.
    public typealias Handler =
        @Sendable (
            HKAnchoredObjectQuery, [HKSample]?, [HKDeletedObject]?, HKQueryAnchor?, (any Error)?
        ) -> Void
    fileprivate let anchor: HKQueryAnchor?
    fileprivate let limit: Int
    fileprivate let handler: Handler

    /// https://developer.apple.com/documentation/healthkit/hkanchoredobjectquery/
    /// init(type:predicate:anchor:limit:resultshandler:)
    public init(
        type: HKSampleType, predicate: NSPredicate?, anchor: HKQueryAnchor?, limit: Int,
        resultsHandler handler: @escaping Handler
    ) {
        (self.anchor, self.limit, self.handler) = (anchor, limit, handler)
        super.init(type, predicate)
    }
}

/// https://developer.apple.com/documentation/healthkit/hksamplequery
public final class HKSampleQuery: HKQuery, @unchecked Sendable {  // Immutable.
    public typealias Handler = @Sendable (HKSampleQuery, [HKSample]?, (any Error)?) -> Void
    fileprivate let limit: Int
    fileprivate let handler: Handler

    /// https://developer.apple.com/documentation/healthkit/hksamplequery/
    /// init(sampletype:predicate:limit:sortdescriptors:resultshandler:)
    public init(
        sampleType: HKSampleType, predicate: NSPredicate?, limit: Int,
        sortDescriptors: [NSSortDescriptor]?, resultsHandler: @escaping Handler
    ) {
        precondition(sortDescriptors?.map(\.ascending) == [false], "no other is played")
        (self.limit, handler) = (limit, resultsHandler)
        super.init(sampleType, predicate)
    }
}

/// https://developer.apple.com/documentation/healthkit/hkobserverquerycompletionhandler
public typealias HKObserverQueryCompletionHandler = @Sendable () -> Void

/// https://developer.apple.com/documentation/healthkit/hkobserverquery
public final class HKObserverQuery: HKQuery, @unchecked Sendable {  // Immutable.
    public typealias Handler =
        @Sendable (HKObserverQuery, @escaping HKObserverQueryCompletionHandler, (any Error)?) ->
        Void
    fileprivate let handler: Handler

    /// https://developer.apple.com/documentation/healthkit/hkobserverquery/
    /// init(sampletype:predicate:updatehandler:)
    public init(
        sampleType: HKSampleType, predicate: NSPredicate?, updateHandler: @escaping Handler
    ) {
        handler = updateHandler
        super.init(sampleType, predicate)
    }
}

/// https://developer.apple.com/documentation/healthkit/hkupdatefrequency
public enum HKUpdateFrequency: Int, Sendable { case immediate = 1, hourly, daily, weekly }

// MARK: - The store

/// https://developer.apple.com/documentation/healthkit/hkhealthstore
public final class HKHealthStore: NSObject, Sendable {
    private enum Entry {
        case saved(HKSample)
        case deleted(UUID)

        var sample: HKSample? { if case .saved(let sample) = self { sample } else { nil } }
        var deletion: HKDeletedObject? {
            if case .deleted(let id) = self { HKDeletedObject(stub: id) } else { nil }
        }
    }

    private struct State {
        /// The saved and deleted samples by type, in order.
        var log: [String: [Entry]] = [:]
        var observers: [ObjectIdentifier: HKObserverQuery] = [:]
        var failures: [NSError] = []
        var asked: Set<String> = []
        var delivered: [String] = []
        var acknowledged = 0
    }

    private let state = Mutex(State())

    public override init() {}

    /// https://developer.apple.com/documentation/healthkit/hkhealthstore/ishealthdataavailable()
    public class func isHealthDataAvailable() -> Bool { true }

    /// https://developer.apple.com/documentation/healthkit/hkhealthstore/
    /// requestauthorization(toshare:read:completion:)
    public func requestAuthorization(
        toShare typesToShare: Set<HKSampleType>, read typesToRead: Set<HKObjectType>
    ) async throws {
        try state.withLock { state in
            if !state.failures.isEmpty { throw state.failures.removeFirst() }
            state.asked.formUnion(typesToRead.map(\.identifier))
        }
    }

    /// https://developer.apple.com/documentation/healthkit/hkhealthstore/
    /// enablebackgrounddelivery(for:frequency:withcompletion:)
    public func enableBackgroundDelivery(
        for type: HKObjectType, frequency: HKUpdateFrequency
    ) async throws {
        state.withLock { $0.delivered.append(type.identifier) }
    }

    /// https://developer.apple.com/documentation/healthkit/hkhealthstore/execute(_:)
    public func execute(_ query: HKQuery) {
        let failure = state.withLock { state -> NSError? in
            if let observer = query as? HKObserverQuery {
                state.observers[ObjectIdentifier(observer)] = observer
                return nil
            }
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        switch query {
        case let query as HKAnchoredObjectQuery:
            if let failure { return query.handler(query, nil, nil, nil, failure) }
            let log = state.withLock { $0.log[query.type.identifier] ?? [] }
            let start = query.anchor?.place ?? 0
            let page = log[start...].prefix(query.limit)
            let samples = page.compactMap(\.sample)
            let deleted = page.compactMap(\.deletion)
            query.handler(query, samples, deleted, HKQueryAnchor(start + page.count), nil)
        case let query as HKSampleQuery:
            if let failure { return query.handler(query, nil, failure) }
            let log = state.withLock { $0.log[query.type.identifier] ?? [] }
            let saved = log.compactMap(\.sample)
            let samples = saved.filter { query.filter?.evaluate(with: $0) ?? true }
                .sorted { $0.startDate > $1.startDate }
            query.handler(query, Array(samples.prefix(query.limit)), nil)
        default: break
        }
    }

    /// https://developer.apple.com/documentation/healthkit/hkhealthstore/stop(_:)
    public func stop(_ query: HKQuery) {
        _ = state.withLock { $0.observers.removeValue(forKey: ObjectIdentifier(query)) }
    }

    // MARK: What a test does

    public func stubSave(_ sample: HKSample) { tell(sample.sampleType, .saved(sample)) }
    public func stubDelete(_ id: UUID, of type: HKSampleType) { tell(type, .deleted(id)) }
    public func stubFail(_ code: Int, domain: String = "com.apple.healthkit") {
        state.withLock { $0.failures.append(NSError(domain: domain, code: code)) }
    }
    /// The types for which the user's permission was requested.
    public var stubAsked: Set<String> { state.withLock(\.asked) }
    public var stubDelivered: [String] { state.withLock(\.delivered) }
    public var stubObservers: Int { state.withLock(\.observers.count) }
    /// The number of acknowledged updates.
    public var stubAcknowledged: Int { state.withLock(\.acknowledged) }

    private func tell(_ type: HKSampleType, _ entry: Entry) {
        let observers = state.withLock { state in
            state.log[type.identifier, default: []].append(entry)
            return state.observers.values.filter { $0.type == type }
        }
        for observer in observers {
            observer.handler(
                observer, { self.state.withLock { $0.acknowledged += 1 } }, nil)
        }
    }
}
