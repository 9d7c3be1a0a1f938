import Foundation
import TidemarkModel
package import TidemarkRules

extension RulesPerson {
    /// An unsigned token, as an emulator accepts it. Nil for an unauthenticated caller.
    package var unsignedToken: String? {
        guard case .account(let uid, let claims) = self else { return nil }
        var all = claims.objects
        all["sub"] = uid
        all["user_id"] = uid
        func part(_ fields: [String: Any]) -> String {
            let data = (try? JSONSerialization.data(withJSONObject: fields)) ?? Data()
            return data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return part(["alg": "none", "typ": "JWT"]) + "." + part(all) + "."
    }
}

extension MapValue {
    fileprivate var objects: [String: Any] {
        var result: [String: Any] = [:]
        for field in self { result[field.key] = field.value.object }
        return result
    }
}

extension Value {
    /// The value as a token writes it; a value without a form in JSON becomes null.
    fileprivate var object: Any {
        switch self {
        case .boolean(let value): value
        case .integer(let value): value
        case .double(let value) where value.isFinite: value
        case .string(let value): value
        case .array(let values): values.map(\.object)
        case .map(let fields): fields.objects
        default: NSNull()
        }
    }
}
