#if canImport(SwiftUI) && canImport(HealthKit)
    import ExampleKit
    import HealthCore
    import SwiftUI
    import TidemarkApp
    import TidemarkHealth

    /// The health data of this phone's user.
    @main struct HealthMain: App {
        var body: some Scene {
            WindowGroup {
                StartView {
                    try TidemarkStack(PhoneServices().stackSettings())
                } content: { stack in
                    SignInView("Health", stack) { user in
                        AllowedView(HealthKitSource()) { source in
                            StartView {
                                try HealthApp(stack, source: source, user: user)
                            } content: { app in
                                NavigationStack { HealthView(app) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Asks once for access to the data of HealthKit, and then shows the app. If the user refuses,
    /// HealthKit has no samples for the app, and the screen says that nothing was measured.
    struct AllowedView<Content: View>: View {
        private let source: HealthKitSource
        private let content: (HealthKitSource) -> Content
        @State private var hasAsked = false

        init(
            _ source: HealthKitSource,
            @ViewBuilder content: @escaping (HealthKitSource) -> Content
        ) {
            self.source = source
            self.content = content
        }

        var body: some View {
            if hasAsked { content(source) } else { ProgressView().task { await ask() } }
        }

        private func ask() async {
            try? await source.requestAuthorization(for: HealthApp.kinds)
            try? await source.enableBackgroundDelivery(for: HealthApp.kinds)
            hasAsked = true
        }
    }
#endif
