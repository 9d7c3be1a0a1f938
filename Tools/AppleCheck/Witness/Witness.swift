// Each function and property that the adapters use, assigned to a constant of the type that they count on.
// Compiled against the stubs on Linux, and against Apple's own modules on a Mac: what a stub declares
// otherwise than Apple fails there.
import CoreGraphics
import Dispatch
import Foundation
import HealthKit
import ImageIO
import Network
import Security

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
    /// The codes that `KeychainStatus` has as numbers.
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

/// Whether the numbers that portable code has written down are Apple's.
public enum Witness {
    public static var isKeychainAsWritten: Bool { KeychainWitness.isAsWritten }
}
