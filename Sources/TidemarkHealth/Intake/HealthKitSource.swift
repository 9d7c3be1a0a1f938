#if canImport(HealthKit)
    public import Foundation
    public import HealthKit

    /// Health data of this device, for a ``HealthIntake``.
    ///
    /// The app needs HealthKit's entitlement and `NSHealthShareUsageDescription`. HealthKit does
    /// not report that the user refused access to a kind: there are no samples of that kind then.
    public struct HealthKitSource: HealthSampleSource {
        private let store: HKHealthStore

        /// - Parameter store: The app's one store.
        public init(_ store: HKHealthStore = HKHealthStore()) { self.store = store }

        /// Asks the user, once, for access to the kinds that were not requested before.
        ///
        /// - Parameter kinds: The kinds that the app will read.
        public func requestAuthorization(
            for kinds: Set<HealthKind> = Set(HealthKind.allCases)
        ) async throws(HealthSourceError) {
            guard HKHealthStore.isHealthDataAvailable() else { throw .refused }
            let types = Set(kinds.map { Self.type(of: $0) as HKObjectType })
            do { try await store.requestAuthorization(toShare: [], read: types) } catch {
                throw Self.error(error)
            }
        }

        /// Asks the system to wake the app for new samples, at most once an hour for most kinds.
        ///
        /// - Parameter kinds: The kinds. Needs the entitlement for background delivery.
        public func enableBackgroundDelivery(
            for kinds: Set<HealthKind> = Set(HealthKind.allCases)
        ) async throws(HealthSourceError) {
            for kind in kinds {
                do {
                    try await store.enableBackgroundDelivery(
                        for: Self.type(of: kind), frequency: .hourly)
                } catch { throw Self.error(error) }
            }
        }

        public func page(
            _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
        ) async throws(HealthSourceError) -> HealthSamplePage {
            let before = try anchor.flatMap { anchor throws(HealthSourceError) in
                try Self.anchor(anchor.data)
            }
            let answer = await withCheckedContinuation { continuation in
                let query = HKAnchoredObjectQuery(
                    type: Self.type(of: kind), predicate: nil, anchor: before, limit: limit
                ) { _, samples, deleted, next, error in
                    let page = Result { () throws(HealthSourceError) in
                        if let error { throw Self.error(error) }
                        guard let next else { throw .failed(detail: "no anchor") }
                        let (samples, deleted) = (samples ?? [], deleted ?? [])
                        return HealthSamplePage(
                            samples.compactMap { Self.sample($0, kind) },
                            deleted: Set(deleted.map(\.uuid)), anchor: try Self.data(next),
                            isLast: HealthKitReading.isLast(
                                samples: samples.count, deleted: deleted.count, limit: limit))
                    }
                    continuation.resume(returning: page)
                }
                store.execute(query)
            }
            return try answer.get()
        }

        public func samples(
            _ kind: HealthKind, in range: Range<Date>, limit: Int
        ) async throws(HealthSourceError) -> [HealthSample] {
            let predicate = HKQuery.predicateForSamples(
                withStart: range.lowerBound, end: range.upperBound, options: .strictStartDate)
            let newest = NSSortDescriptor(keyPath: \HKSample.startDate, ascending: false)
            let answer = await withCheckedContinuation { continuation in
                let query = HKSampleQuery(
                    sampleType: Self.type(of: kind), predicate: predicate, limit: limit,
                    sortDescriptors: [newest]
                ) { _, samples, error in
                    let found = Result { () throws(HealthSourceError) in
                        if let error { throw Self.error(error) }
                        return (samples ?? []).compactMap { Self.sample($0, kind) }
                    }
                    continuation.resume(returning: found)
                }
                store.execute(query)
            }
            return try answer.get()
        }

        /// Each update's ``HealthUpdate/stored()`` calls HealthKit's completion: only then may the
        /// system suspend an app that it woke in the background.
        public func updates() -> AsyncStream<HealthUpdate> {
            let updates = HealthUpdates()
            let queries = HealthKind.allCases.map { kind in
                HKObserverQuery(sampleType: Self.type(of: kind), predicate: nil) {
                    [weak updates] _, isDone, error in
                    // There is nothing to store.
                    if error != nil { return isDone() }
                    updates?.add(kind, whenStored: isDone)
                }
            }
            updates.whenReleased { [store] in for query in queries { store.stop(query) } }
            for query in queries { store.execute(query) }
            return updates.stream
        }
    }

    // MARK: - HealthKit's words

    extension HealthKitSource {
        static func type(of kind: HealthKind) -> HKSampleType {
            switch kind {
            case .mood: HKObjectType.stateOfMindType()
            case .sleep: HKCategoryType(HKCategoryTypeIdentifier(rawValue: kind.typeIdentifier))
            default: HKQuantityType(HKQuantityTypeIdentifier(rawValue: kind.typeIdentifier))
            }
        }

        /// Returns nil for a sample of another class than its type has.
        static func sample(_ sample: HKSample, _ kind: HealthKind) -> HealthSample? {
            let value: HealthSample.Value
            switch sample {
            case let sample as HKQuantitySample:
                guard let unit = HealthKitReading.unit(of: kind) else { return nil }
                value = .quantity(
                    sample.quantity.doubleValue(for: HKUnit(from: unit)), unit: unit)
            case let sample as HKCategorySample: value = .category(sample.value)
            case let sample as HKStateOfMind: value = .quantity(sample.valence, unit: "")
            default: return nil
            }
            let revision = sample.sourceRevision
            return HealthSample(
                id: sample.uuid, kind: kind, value: value, start: sample.startDate,
                end: sample.endDate,
                source: HealthSource(name: revision.source.name, model: revision.productType),
                metadata: HealthKitReading.texts(of: sample.metadata))
        }

        private static func anchor(_ data: Data) throws(HealthSourceError) -> HKQueryAnchor? {
            do {
                return try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: HKQueryAnchor.self, from: data)
            } catch { throw .failed(detail: "the anchor cannot be read: \(error)") }
        }

        private static func data(_ anchor: HKQueryAnchor) throws(HealthSourceError) -> HealthAnchor
        {
            do {
                return HealthAnchor(
                    try NSKeyedArchiver.archivedData(
                        withRootObject: anchor, requiringSecureCoding: true))
            } catch { throw .failed(detail: "the anchor cannot be kept: \(error)") }
        }

        private static func error(_ error: any Error) -> HealthSourceError {
            let error = error as NSError
            return HealthKitReading.error(
                domain: error.domain, code: error.code, detail: error.localizedDescription)
        }
    }
#endif
