#if canImport(UIKit)
    import Foundation
    import UIKit

    /// The answers of the user to a form.
    struct SignUpForm {
        var email = ""
        var password = ""
        var name = ""
        var home = ""
        /// True if the user only signs in.
        var hasAccount = false
    }

    /// Asks for an account and a profile, or only for the profile of an account without one.
    final class SignUpController: UIViewController {
        private let asksAccount: Bool
        private let submit: (SignUpForm) -> Void
        private let email = SignUpController.field("Email")
        private let password = SignUpController.field("Password")
        private let name = SignUpController.field("Your name")
        private let home = SignUpController.field("Your home")

        init(asksAccount: Bool, submit: @escaping (SignUpForm) -> Void) {
            self.asksAccount = asksAccount
            self.submit = submit
            super.init(nibName: nil, bundle: nil)
        }

        @available(*, unavailable)
        required init?(coder: NSCoder) { fatalError("This controller is in no storyboard.") }

        override func loadView() {
            password.isSecureTextEntry = true
            var rows: [UIView] = asksAccount ? [email, password] : []
            rows += [name, home, button("Done", hasAccount: false)]
            if asksAccount { rows.append(button("I have an account", hasAccount: true)) }
            // The last view takes the rest of the height.
            rows.append(UIView())
            let form = UIStackView(arrangedSubviews: rows)
            form.axis = .vertical
            form.spacing = 12
            form.isLayoutMarginsRelativeArrangement = true
            form.directionalLayoutMargins = NSDirectionalEdgeInsets(
                top: 120, leading: 24, bottom: 24, trailing: 24)
            form.backgroundColor = .systemBackground
            view = form
        }

        private static func field(_ placeholder: String) -> UITextField {
            let field = UITextField()
            field.placeholder = placeholder
            field.borderStyle = .roundedRect
            return field
        }

        private func button(_ title: String, hasAccount: Bool) -> UIButton {
            UIButton(
                type: .system,
                primaryAction: UIAction(title: title) { [weak self] _ in
                    guard let self else { return }
                    submit(
                        SignUpForm(
                            email: email.text ?? "", password: password.text ?? "",
                            name: name.text ?? "", home: home.text ?? "", hasAccount: hasAccount))
                })
        }
    }
#endif
