// https://developer.apple.com/documentation/photosui. The picker cannot be drawn. It exists because
// the views of an example app use it, and those views are only type-checked.
public import Foundation
public import SwiftUI

/// https://developer.apple.com/documentation/coretransferable/transferable
public protocol Transferable {}

extension Data: Transferable {}

/// https://developer.apple.com/documentation/photosui/phpickerfilter-swift.struct
public struct PHPickerFilter: Equatable, Hashable, Sendable {
    public static let images = PHPickerFilter()
}

/// https://developer.apple.com/documentation/photosui/photospickeritem
public struct PhotosPickerItem: Equatable, Hashable, Sendable {
    /// https://developer.apple.com/documentation/photosui/photospickeritem/
    /// encodingdisambiguationpolicy
    public struct EncodingDisambiguationPolicy: Equatable, Hashable, Sendable {
        public static let automatic = EncodingDisambiguationPolicy(number: 0)
        public static let compatible = EncodingDisambiguationPolicy(number: 1)
        let number: Int
    }

    /// https://developer.apple.com/documentation/photosui/photospickeritem/loadtransferable(type:)
    public func loadTransferable<T: Transferable>(type: T.Type) async throws -> T? {
        fatalError("no photo is chosen in this stub")
    }
}

/// https://developer.apple.com/documentation/photosui/photospicker
public struct PhotosPicker<Label: View>: View {
    public var body: Never { fatalError("not drawn by this stub") }
}

extension PhotosPicker where Label == Text {
    /// https://developer.apple.com/documentation/photosui/photospicker/
    /// init(_:selection:matching:preferreditemencoding:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, selection: Binding<PhotosPickerItem?>,
        matching filter: PHPickerFilter? = nil,
        preferredItemEncoding: PhotosPickerItem.EncodingDisambiguationPolicy = .automatic
    ) {}
}
