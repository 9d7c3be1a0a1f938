// The declarations that the screens of the example apps use: see Witness.swift.
import Charts
import CoreGraphics
import Foundation
import PhotosUI
import SwiftUI

@MainActor enum SceneWitness {
    struct Sample: App {
        var body: some Scene { WindowGroup { Text("") } }
    }

    static let start: () -> Void = { Sample.main() }
    static let secret: (LocalizedStringKey, Binding<String>) -> SecureField<Text> = {
        SecureField($0, text: $1)
    }

    static let phase: KeyPath<EnvironmentValues, ScenePhase> = \.scenePhase
    static let active: ScenePhase = .active

    static func appears(_ view: Text, _ act: @escaping @MainActor () -> Void) -> some View {
        view.onAppear { act() }
    }
}

@MainActor enum PhotoWitness {
    static let picker: (LocalizedStringKey, Binding<PhotosPickerItem?>) -> PhotosPicker<Text> = {
        PhotosPicker($0, selection: $1, matching: .images, preferredItemEncoding: .compatible)
    }
    static let bytes: (PhotosPickerItem) async throws -> Data? = {
        try await $0.loadTransferable(type: Data.self)
    }
}

@MainActor enum ChartWitness {
    static let hour: (LocalizedStringKey, Date) -> PlottableValue<Date> = {
        .value($0, $1, unit: .hour)
    }
    static let amount: (LocalizedStringKey, Double) -> PlottableValue<Double> = { .value($0, $1) }
    static let bar: (PlottableValue<Date>, PlottableValue<Double>) -> BarMark = {
        BarMark(x: $0, y: $1)
    }
    static let line: (PlottableValue<Date>, PlottableValue<Double>) -> LineMark = {
        LineMark(x: $0, y: $1)
    }

    static func chart(_ values: [Double]) -> some View {
        Chart(values, id: \.self) { BarMark(x: .value("a", $0), y: .value("b", $0)) }
    }
}

#if canImport(UIKit)
    import UIKit

    @MainActor enum ControllerWitness {
        static let alert: (String?, String?, UIAlertController.Style) -> UIAlertController = {
            UIAlertController(title: $0, message: $1, preferredStyle: $2)
        }
        static let choice:
            (String?, (@MainActor @Sendable (UIAlertAction) -> Void)?) -> UIAlertAction = {
                UIAlertAction(title: $0, style: .default, handler: $1)
            }
        static let act: (UIAlertController, UIAlertAction) -> Void = { $0.addAction($1) }
        static let present: (UIViewController, UIViewController) -> Void = {
            $0.present($1, animated: true)
        }
        static let dismiss: (UIViewController) -> Void = { $0.dismiss(animated: true) }
        static let presented: (UIViewController) -> UIViewController? = {
            $0.presentedViewController
        }
        static let contain: (UIViewController, UIViewController) -> Void = { parent, child in
            parent.addChild(child)
            child.didMove(toParent: parent)
            child.willMove(toParent: nil)
            child.removeFromParent()
        }
        static let stack: (UIViewController) -> UINavigationController = {
            UINavigationController(rootViewController: $0)
        }
        static let top: (UINavigationController) -> UIViewController? = { $0.topViewController }
        static let prompt: (UINavigationItem, String?, UIBarButtonItem?) -> Void = {
            ($0.prompt, $0.rightBarButtonItem) = ($1, $2)
        }
        static let menu: ([UIMenuElement]) -> UIBarButtonItem = {
            UIBarButtonItem(title: "", menu: UIMenu(children: $0))
        }
        static let root: (UIWindow, UIViewController?) -> Void = { $0.rootViewController = $1 }
    }

    @MainActor enum TableWitness {
        static let table: (UITableViewController) -> UITableView? = { $0.tableView }
        static let style: (UITableView.Style) -> UITableViewController = {
            UITableViewController(style: $0)
        }
        static let batch: (UITableView, (() -> Void)?) -> Void = { $0.performBatchUpdates($1) }
        static let delete: (UITableView, [IndexPath]) -> Void = {
            $0.deleteRows(at: $1, with: .automatic)
        }
        static let insert: (UITableView, [IndexPath]) -> Void = {
            $0.insertRows(at: $1, with: .automatic)
        }
        static let move: (UITableView, IndexPath, IndexPath) -> Void = {
            $0.moveRow(at: $1, to: $2)
        }
        static let draw: (UITableView, [IndexPath]) -> Void = { $0.reconfigureRows(at: $1) }
        static let visible: (UITableView) -> [IndexPath]? = { $0.indexPathsForVisibleRows }
        static let scroll: (UITableView, IndexPath) -> Void = {
            $0.scrollToRow(at: $1, at: .top, animated: false)
        }
        static let leave: (UIViewController, Bool) -> Void = { $0.viewWillDisappear($1) }
        static let register: (UITableView, AnyClass?, String) -> Void = {
            $0.register($1, forCellReuseIdentifier: $2)
        }
        static let reuse: (UITableView, String, IndexPath) -> UITableViewCell = {
            $0.dequeueReusableCell(withIdentifier: $1, for: $2)
        }
        static let content: (UITableViewCell) -> UIListContentConfiguration = {
            $0.defaultContentConfiguration()
        }
        static let place: (Int, Int) -> IndexPath = { IndexPath(row: $0, section: $1) }
        static let row: (IndexPath) -> Int = { $0.row }
        static let refresh: (UITableViewController) -> UIRefreshControl? = { $0.refreshControl }
        static let picture: (CGImage) -> UIImageView = { image in
            let view = UIImageView(image: UIImage(cgImage: image, scale: 2, orientation: .up))
            view.contentMode = .scaleAspectFit
            view.accessibilityLabel = ""
            return view
        }
        static let header: (UITableView, UIView?) -> Void = { $0.tableHeaderView = $1 }
        static let ended: (UIRefreshControl) -> Void = { $0.endRefreshing() }
    }

    @MainActor enum FormWitness {
        static let action: (String, @escaping UIActionHandler) -> UIAction = {
            UIAction(title: $0, handler: $1)
        }
        static let onChange: (UIControl, UIAction) -> Void = {
            $0.addAction($1, for: .valueChanged)
        }
        static let button: (UIAction?) -> UIButton = { UIButton(type: .system, primaryAction: $0) }
        static let field: (UITextField) -> String? = { field in
            field.placeholder = field.text
            field.borderStyle = .roundedRect
            field.isSecureTextEntry = true
            return field.text
        }
        static let rows: ([UIView]) -> UIStackView = { views in
            let stack = UIStackView(arrangedSubviews: views)
            stack.axis = .vertical
            stack.spacing = 1
            stack.isLayoutMarginsRelativeArrangement = true
            stack.directionalLayoutMargins = NSDirectionalEdgeInsets(
                top: 1, leading: 1, bottom: 1, trailing: 1)
            stack.backgroundColor = .systemBackground
            return stack
        }
        static let fill: (UIView, UIView) -> Void = { outer, inner in
            inner.frame = outer.bounds
            inner.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            outer.addSubview(inner)
            inner.removeFromSuperview()
        }
        static let spinner: () -> UIActivityIndicatorView = {
            let spinner = UIActivityIndicatorView(style: .large)
            spinner.startAnimating()
            return spinner
        }
    }
#endif
