#if canImport(SwiftUI)
    import ExampleKit
    import StampsCore
    import SwiftUI
    import TidemarkApp

    /// The stamps of the user who signs in.
    @main struct StampsMain: App {
        /// The app's data, and the app that shows it before anybody has signed in.
        private struct Parts {
            let stack: TidemarkStack
            let app: StampsAfter

            @MainActor init() throws {
                let services = try PhoneServices()
                stack = try TidemarkStack(StampsAfter.settings(services))
                app = try StampsAfter(PhoneEnvironment(services.phoneSettings()), stack)
            }
        }

        var body: some Scene {
            WindowGroup {
                StartView {
                    try Parts()
                } content: { parts in
                    SignInView("Stamps", parts.stack) { _ in StampsView(app: parts.app) }
                }
            }
        }
    }
#endif
