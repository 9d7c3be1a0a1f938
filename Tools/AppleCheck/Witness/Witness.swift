// Assigns each function and property that the adapters use to a constant of the expected type. The
// file is compiled against the stubs on Linux, and against Apple's own modules on a Mac. A stub
// that differs from Apple's declaration fails to compile there.
import AuthenticationServices
import BackgroundTasks
import Combine
import CoreGraphics
import Dispatch
import Foundation
import HealthKit
import ImageIO
import Network
import Security
import SwiftUI
import os

@MainActor enum KeychainWitness {
    static let copy: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus =
        SecItemCopyMatching
    static let add: (CFDictionary, UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus = SecItemAdd
    static let update: (CFDictionary, CFDictionary) -> OSStatus = SecItemUpdate
    static let delete: (CFDictionary) -> OSStatus = SecItemDelete
    static var names: [CFString] {
        [
            kSecClass, kSecClassGenericPassword, kSecAttrService, kSecAttrAccount,
            kSecAttrAccessGroup, kSecAttrAccessible, kSecUseDataProtectionKeychain,
            kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, kSecReturnData, kSecValueData,
            kSecMatchLimit, kSecMatchLimitOne,
        ]
    }
    /// The codes that `KeychainStatus` contains as numbers.
    nonisolated static let codes: [OSStatus] = [
        errSecSuccess, errSecItemNotFound, errSecDuplicateItem, errSecInteractionNotAllowed,
    ]
    nonisolated static let isAsWritten = codes == [0, -25_300, -25_299, -25_308]
}

@MainActor enum PictureWitness {
    static let source: (CFData, CFDictionary?) -> CGImageSource? = CGImageSourceCreateWithData
    static let status: (CGImageSource, Int) -> CGImageSourceStatus = CGImageSourceGetStatusAtIndex
    static let thumbnail: (CGImageSource, Int, CFDictionary?) -> CGImage? =
        CGImageSourceCreateThumbnailAtIndex
    static let space: (CFString) -> CGColorSpace? = CGColorSpace.init(name:)
    static let provider: (CFData) -> CGDataProvider? = CGDataProvider.init(data:)
    static let image:
        (
            Int, Int, Int, Int, Int, CGColorSpace, CGBitmapInfo, CGDataProvider,
            UnsafePointer<CGFloat>?, Bool, CGColorRenderingIntent
        ) -> CGImage? = CGImage.init(
            width:height:bitsPerComponent:bitsPerPixel:bytesPerRow:space:bitmapInfo:provider:decode:
            shouldInterpolate:intent:)
    static let size: [KeyPath<CGImage, Int>] = [\.width, \.height]
    static let premultipliedLast: UInt32 = CGImageAlphaInfo.premultipliedLast.rawValue
    static var options: [CFString] {
        [
            kCGImageSourceCreateThumbnailFromImageAlways,
            kCGImageSourceCreateThumbnailWithTransform, kCGImageSourceThumbnailMaxPixelSize,
            CGColorSpace.sRGB,
        ]
    }
}

@MainActor enum NetworkWitness {
    static let make: () -> NWPathMonitor = NWPathMonitor.init
    static let start: (NWPathMonitor) -> (DispatchQueue) -> Void = NWPathMonitor.start(queue:)
    static let cancel: (NWPathMonitor) -> () -> Void = NWPathMonitor.cancel
    static let handler: KeyPath<NWPathMonitor, (@Sendable (NWPath) -> Void)?> =
        \.pathUpdateHandler
    static let flags: [KeyPath<NWPath, Bool>] = [\.isExpensive, \.isConstrained]
    static let interfaces: KeyPath<NWPath, [NWInterface]> = \.availableInterfaces
    static let gateways: KeyPath<NWPath, [NWEndpoint]> = \.gateways
    static let satisfied = NWPath.Status.satisfied
    static func isSendable(_ monitor: NWPathMonitor) -> any Sendable { monitor }
}

@MainActor enum HealthWitness {
    static let quantity: (HKQuantityTypeIdentifier) -> HKQuantityType = HKQuantityType.init
    static let category: (HKCategoryTypeIdentifier) -> HKCategoryType = HKCategoryType.init
    static let mood: () -> HKStateOfMindType = HKObjectType.stateOfMindType
    static let unit: (String) -> HKUnit = HKUnit.init(from:)
    static let value: (HKQuantity) -> (HKUnit) -> Double = HKQuantity.doubleValue(for:)
    static let execute: (HKHealthStore) -> (HKQuery) -> Void = HKHealthStore.execute
    static let stop: (HKHealthStore) -> (HKQuery) -> Void = HKHealthStore.stop
    static let valence: KeyPath<HKStateOfMind, Double> = \.valence
    static let product: KeyPath<HKSourceRevision, String?> = \.productType
    static let metadata: KeyPath<HKSample, [String: Any]?> = \.metadata
    static let deleted: KeyPath<HKDeletedObject, UUID> = \.uuid
    static func isSendable(_ store: HKHealthStore, _ query: HKObserverQuery) -> [any Sendable] {
        [store, query]
    }
    static func ask(_ store: HKHealthStore) async throws {
        try await store.requestAuthorization(
            toShare: Set<HKSampleType>(), read: Set<HKObjectType>())
        try await store.enableBackgroundDelivery(
            for: HKObjectType.stateOfMindType(), frequency: .hourly)
    }
}

@MainActor enum AppleSignInWitness {
    static let request: (ASAuthorizationAppleIDProvider) -> () -> ASAuthorizationAppleIDRequest =
        ASAuthorizationAppleIDProvider.createRequest
    static let scopes: WritableKeyPath<ASAuthorizationAppleIDRequest, [ASAuthorization.Scope]?> =
        \.requestedScopes
    static let nonce: WritableKeyPath<ASAuthorizationAppleIDRequest, String?> = \.nonce
    static let credential: KeyPath<ASAuthorization, any ASAuthorizationCredential> = \.credential
    static let texts: [KeyPath<ASAuthorizationAppleIDCredential, Data?>] = [
        \.identityToken, \.authorizationCode,
    ]
    static let user: KeyPath<ASAuthorizationAppleIDCredential, String> = \.user
    static let name: KeyPath<ASAuthorizationAppleIDCredential, PersonNameComponents?> = \.fullName
    static let email: KeyPath<ASAuthorizationAppleIDCredential, String?> = \.email
    static let cancelled: ASAuthorizationError.Code = .canceled
    static let revoked: Notification.Name =
        ASAuthorizationAppleIDProvider.credentialRevokedNotification
    static func state(_ provider: ASAuthorizationAppleIDProvider) {
        provider.getCredentialState(forUserID: "") { state, error in
            let _: (Bool, (any Error)?) = (state == .authorized, error)
        }
    }
}

#if !os(macOS)
    @MainActor enum BackgroundWitness {
        static let complete: (BGTask) -> (Bool) -> Void = BGTask.setTaskCompleted(success:)
        static let expiration: ReferenceWritableKeyPath<BGTask, (() -> Void)?> =
            \.expirationHandler
        static let begin: ReferenceWritableKeyPath<BGTaskRequest, Date?> = \.earliestBeginDate
        static let needs: [ReferenceWritableKeyPath<BGProcessingTaskRequest, Bool>] = [
            \.requiresNetworkConnectivity, \.requiresExternalPower,
        ]
        static let requests: [(String) -> BGTaskRequest] = [
            BGAppRefreshTaskRequest.init(identifier:), BGProcessingTaskRequest.init(identifier:),
        ]
        static func use(_ scheduler: BGTaskScheduler, _ request: BGTaskRequest) throws -> Bool {
            try scheduler.submit(request)
            return scheduler.register(forTaskWithIdentifier: "", using: nil) { _ in }
        }
    }
#endif

@MainActor enum LogWitness {
    static let make: (String, String) -> Logger = Logger.init(subsystem:category:)
    static func log(_ logger: Logger, _ text: String) {
        logger.debug("\(text, privacy: .public)")
        logger.fault("\(text, privacy: .private)")
    }
}

/// The types of which views are made. A declaration that only a view may use is inside a view here.
@MainActor enum ViewWitness {
    static let state: (Int) -> State<Int> = State.init(wrappedValue:)
    static let environment: (KeyPath<EnvironmentValues, CGFloat>) -> Environment<CGFloat> =
        Environment.init
    static let scale: WritableKeyPath<EnvironmentValues, CGFloat> = \.displayScale
    static let size: KeyPath<GeometryProxy, CGSize> = \.size
    static let animate: (Animation?, () -> Void) -> Void = { withAnimation($0, $1) }
    static let label: (CGImage, CGFloat, Text) -> Image = { Image($0, scale: $1, label: $2) }
    static let plain: (CGImage, CGFloat) -> Image = { Image(decorative: $0, scale: $1) }

    /// The `update()` of this property need not be isolated to an actor.
    struct Property: DynamicProperty {
        @Environment(\.displayScale) var scale
        @State var count = 0
        nonisolated func update() {}
    }

    struct Key: EnvironmentKey {
        static var defaultValue: Int? { nil }
    }

    struct Content<Inner: View>: View {
        let inner: (CGSize) -> Inner
        init(@ViewBuilder inner: @escaping (CGSize) -> Inner) { self.inner = inner }
        var body: some View {
            GeometryReader { place in
                ZStack {
                    if place.size.width > 0 { inner(place.size) } else { EmptyView() }
                }
                .aspectRatio(contentMode: .fill)
                .frame(width: place.size.width, height: place.size.height)
                .clipped()
                .task(id: place.size.width) { await Task.yield() }
                .environment(\.displayScale, 2)
            }
        }
    }
}

/// Checks that the numbers in portable code equal Apple's.
public enum Witness {
    public static var isKeychainAsWritten: Bool { KeychainWitness.isAsWritten }
}

@MainActor enum CombineWitness {
    static let demands: [Subscribers.Demand] = [.unlimited, .none]
    static let demand: (Int) -> Subscribers.Demand = Subscribers.Demand.max(_:)
    static let limit: @Sendable (Subscribers.Demand) -> Int? = { $0.max }

    static func erased<P: Publisher>(_ publisher: P) -> AnyPublisher<P.Output, any Error> {
        publisher.mapError { $0 as any Error }.eraseToAnyPublisher()
    }

    /// Calls a subscriber as our publishers do.
    static func give<S: Subscriber>(
        _ value: S.Input, to subscriber: S, by subscription: any Subscription
    ) -> Subscribers.Demand {
        subscriber.receive(subscription: subscription)
        defer { subscriber.receive(completion: .finished) }
        return subscriber.receive(value)
    }
}
