// https://developer.apple.com/documentation/uikit/menus-and-shortcuts

/// https://developer.apple.com/documentation/uikit/uimenuelement
@MainActor open class UIMenuElement {}

/// https://developer.apple.com/documentation/uikit/uiactionhandler
public typealias UIActionHandler = @MainActor (UIAction) -> Void

/// https://developer.apple.com/documentation/uikit/uiaction
@MainActor open class UIAction: UIMenuElement {
    /// https://developer.apple.com/documentation/uikit/uiaction/
    /// init(title:subtitle:image:selectedimage:identifier:discoverabilitytitle:attributes:state:
    /// handler:)
    public convenience init(title: String = "", handler: @escaping UIActionHandler) {
        self.init(stub: ())
    }
    init(stub: Void) {}
}

/// https://developer.apple.com/documentation/uikit/uimenu
@MainActor open class UIMenu: UIMenuElement {
    /// https://developer.apple.com/documentation/uikit/uimenu/
    /// init(title:subtitle:image:identifier:options:preferredelementsize:children:)
    public convenience init(title: String = "", children: [UIMenuElement] = []) {
        self.init(stub: ())
    }
    init(stub: Void) {}
}

/// https://developer.apple.com/documentation/uikit/uibarbuttonitem
@MainActor open class UIBarButtonItem {
    /// https://developer.apple.com/documentation/uikit/uibarbuttonitem/
    /// init(title:image:primaryaction:menu:)
    public convenience init(
        title: String? = nil, primaryAction: UIAction? = nil, menu: UIMenu? = nil
    ) { self.init(stub: ()) }
    init(stub: Void) {}
}

/// https://developer.apple.com/documentation/uikit/uinavigationitem
@MainActor open class UINavigationItem {
    open var prompt: String?
    open var rightBarButtonItem: UIBarButtonItem?
    init() {}
}

/// https://developer.apple.com/documentation/uikit/uialertaction
@MainActor open class UIAlertAction {
    /// https://developer.apple.com/documentation/uikit/uialertaction/style-swift.enum
    public enum Style: Int, Sendable { case `default`, cancel, destructive }
    /// https://developer.apple.com/documentation/uikit/uialertaction/init(title:style:handler:)
    public convenience init(
        title: String?, style: Style, handler: (@MainActor @Sendable (UIAlertAction) -> Void)? = nil
    ) { self.init(stub: ()) }
    init(stub: Void) {}
}

/// https://developer.apple.com/documentation/uikit/uialertcontroller
@MainActor open class UIAlertController: UIViewController {
    /// https://developer.apple.com/documentation/uikit/uialertcontroller/style
    public enum Style: Int, Sendable { case actionSheet, alert }
    /// https://developer.apple.com/documentation/uikit/uialertcontroller/
    /// init(title:message:preferredstyle:)
    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init(nibName: nil, bundle: nil)
    }
    open func addAction(_ action: UIAlertAction) {}
}
