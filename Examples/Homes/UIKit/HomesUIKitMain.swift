#if canImport(UIKit)
    import ExampleKit
    import Foundation
    import HomesCore
    import TidemarkApp
    import UIKit

    /// The app with view controllers. It has no storyboard.
    @main final class HomesDelegate: UIResponder, UIApplicationDelegate {
        /// The data of the process. All scenes share it, because one folder has one owner.
        struct Parts {
            let stack: TidemarkStack
            let photo: HomePhoto

            init() throws {
                let services = try PhoneServices()
                stack = try TidemarkStack(HomesAfter.settings(services))
                photo = try HomePhoto(
                    AppPhotos(stack.firestore, services), stack.firestore,
                    folder: PhoneServices.pictures.path)
            }
        }

        static let parts = Result { try Parts() }

        func application(
            _ application: UIApplication,
            configurationForConnecting connectingSceneSession: UISceneSession,
            options: UIScene.ConnectionOptions
        ) -> UISceneConfiguration {
            let configuration = UISceneConfiguration(
                name: nil, sessionRole: connectingSceneSession.role)
            configuration.delegateClass = HomesSceneDelegate.self
            return configuration
        }
    }

    /// Shows the launch in a window.
    final class HomesSceneDelegate: UIResponder, UIWindowSceneDelegate {
        var window: UIWindow?

        func scene(
            _ scene: UIScene, willConnectTo session: UISceneSession,
            options connectionOptions: UIScene.ConnectionOptions
        ) {
            guard let scene = scene as? UIWindowScene else { return }
            let window = UIWindow(windowScene: scene)
            switch HomesDelegate.parts {
            case .success(let parts):
                window.rootViewController = LaunchController(parts.stack, parts.photo)
            case .failure(let error): window.rootViewController = ProblemController("\(error)")
            }
            window.makeKeyAndVisible()
            self.window = window
        }
    }

    /// Says why the app cannot start, for example a `GoogleService-Info.plist` that is not a
    /// project's.
    final class ProblemController: UIViewController {
        private let problem: String

        init(_ problem: String) {
            self.problem = problem
            super.init(nibName: nil, bundle: nil)
        }

        @available(*, unavailable)
        required init?(coder: NSCoder) { fatalError("This controller is in no storyboard.") }

        override func loadView() {
            let label = UILabel()
            label.text = problem
            label.numberOfLines = 0
            label.textAlignment = .center
            label.backgroundColor = .systemBackground
            view = label
        }
    }
#endif
