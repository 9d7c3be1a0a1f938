#if canImport(SwiftUI) && DEBUG
    import ExampleKit
    import SwiftUI

    /// Shows a home without a network.
    #Preview("Homes") {
        Form {
            StateLine(state: .stale(age: 60, reason: "You see what is on this device."))
            LabeledContent("Ada", value: "you")
        }
    }
#endif
