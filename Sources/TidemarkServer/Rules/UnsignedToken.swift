import Foundation
import TidemarkModel
package import TidemarkRules

extension RulesPerson {
    /// A token as an emulator takes it: not signed. Nil for nobody.
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
    /// As a token writes it; what JSON has no form of becomes null.
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
