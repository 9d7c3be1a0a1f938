#if canImport(SwiftUI) && DEBUG
    import ExampleKit
    import SwiftUI

    #Preview("Stamps") {
        List {
            StampRow(
                row: Row("s1", "Lighthouse", detail: "Ada", picture: .init(of: "Lighthouse")),
                image: nil)
            StampRow(row: Row("s2", "", kind: .skeleton), image: nil)
        }
    }
#endif
