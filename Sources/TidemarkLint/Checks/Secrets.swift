import SwiftSyntax

/// The check `secret-in-document`.
enum Secrets {
    private static let names: Set<String> = [
        "password", "passwd", "passwordhash", "userpassword", "secret", "clientsecret", "apikey",
        "secretkey", "privatekey", "accesstoken", "refreshtoken", "idtoken", "authtoken",
        "sessiontoken", "bearertoken", "oauthtoken", "cardnumber", "creditcardnumber",
        "creditcard", "cvv", "cvc", "ssn", "socialsecuritynumber",
    ]

    /// The ends of names, as in `githubAccessToken`.
    private static let ends = [
        "accesstoken", "refreshtoken", "clientsecret", "secretkey", "privatekey", "apikey",
    ]

    static func findings(in context: CheckContext) -> [Finding] {
        var seen: Set<Place> = []
        var found: [Finding] = []
        for operation in context.operations where operation.kind.isWrite {
            for field in WrittenField.fields(of: operation, context) {
                guard let key = field.key, isSecret(key) else { continue }
                if case .fieldValue("delete") = context.evaluator.value(field.value) { continue }
                let file = context.file(of: field.value)
                if seen.insert(file.place(of: field.value)).inserted {
                    found.append(finding(key, in: file, at: Syntax(field.value), context))
                }
            }
            if let property = property(of: operation, context) {
                let place = property.file.place(of: property.node)
                if seen.insert(place).inserted {
                    found.append(
                        finding(property.name, in: property.file, at: property.node, context))
                }
            }
        }
        return found
    }

    private static func isSecret(_ key: String) -> Bool {
        let last = key.split(separator: ".").last.map(String.init) ?? key
        let word = last.lowercased().filter { $0 != "_" && $0 != "-" }
        return names.contains(word) || ends.contains { word.hasSuffix($0) }
    }

    /// Returns a secret property of the encoded type: `setData(from: user)`.
    private static func property(
        of operation: Operation, _ context: CheckContext
    ) -> VariableFacts? {
        guard operation.call?.argument("from") != nil,
            let data = operation.call?.argument("from"),
            case .instance(let name) = context.evaluator.value(data),
            let type = context.project.types[name], context.project.types["CodingKeys"] == nil
        else { return nil }
        return type.variables.values.filter { $0.getter == nil && isSecret($0.name) }
            .min { $0.name < $1.name }
    }

    private static func finding(
        _ key: String, in file: SourceFile, at node: Syntax, _ context: CheckContext
    ) -> Finding {
        context.finding(
            .secretInDocument, in: file, at: node, "`\(key)` is stored in a document.",
            because: """
                Everybody who may read the document reads all of it: rules cannot hide a field. \
                It
                """
                    + "is also in every device's cache, unencrypted, and in each backup.",
            mend:
                "Leave passwords to Firebase Auth, keep tokens in the keychain, and what a server "
                + "needs in Secret Manager or in a collection that no client may read.")
    }
}
