#if canImport(SwiftUI)
    import ExampleKit
    import HomesCore
    import SwiftUI

    /// A home with its members. The user signs in with Apple.
    @main struct HomesMain: App {
        var body: some Scene {
            WindowGroup {
                StartView {
                    try HomesAfter(PhoneServices())
                } content: { app in
                    HomesView(app: app)
                }
            }
        }
    }
#endif
