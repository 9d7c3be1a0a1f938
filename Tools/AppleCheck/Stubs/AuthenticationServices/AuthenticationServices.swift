// https://developer.apple.com/documentation/authenticationservices
public import Foundation
import Synchronization

/// https://developer.apple.com/documentation/authenticationservices/asauthorizationcredential
public protocol ASAuthorizationCredential: NSObjectProtocol {}

/// https://developer.apple.com/documentation/authenticationservices/asauthorization
public final class ASAuthorization: NSObject {
    /// https://developer.apple.com/documentation/authenticationservices/asauthorization/scope
    public struct Scope: Hashable, Sendable {
        private let name: String
        public static let fullName = Scope(name: "full_name")
        public static let email = Scope(name: "email")
    }

    public let credential: any ASAuthorizationCredential
    public init(stub credential: any ASAuthorizationCredential) { self.credential = credential }
}

/// https://developer.apple.com/documentation/authenticationservices/
/// asauthorizationappleidcredential
public final class ASAuthorizationAppleIDCredential: NSObject, ASAuthorizationCredential {
    public let user: String
    public let identityToken: Data?
    public let authorizationCode: Data?
    public let fullName: PersonNameComponents?
    public let email: String?

    public init(
        stub user: String, token: Data?, code: Data? = nil, name: PersonNameComponents? = nil,
        email: String? = nil
    ) {
        self.user = user
        identityToken = token
        authorizationCode = code
        fullName = name
        self.email = email
    }
}

/// https://developer.apple.com/documentation/authenticationservices/aspasswordcredential
public final class ASPasswordCredential: NSObject, ASAuthorizationCredential {}

/// https://developer.apple.com/documentation/authenticationservices/asauthorizationappleidrequest
public final class ASAuthorizationAppleIDRequest: NSObject {
    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationopenidrequest/requestedscopes
    public var requestedScopes: [ASAuthorization.Scope]?
    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationopenidrequest/nonce
    public var nonce: String?
}

/// https://developer.apple.com/documentation/authenticationservices/
/// asauthorizationerror-swift.struct
public struct ASAuthorizationError: Error {
    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationerror-swift.struct/code
    public enum Code: Int, Sendable {
        case unknown = 1000, canceled, invalidResponse, notHandled, failed
    }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}

/// Returns the states that a test has set for each user.
///
/// https://developer.apple.com/documentation/authenticationservices/asauthorizationappleidprovider
public final class ASAuthorizationAppleIDProvider: NSObject {
    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationappleidprovider/credentialstate
    public enum CredentialState: Int, Sendable { case revoked, authorized, notFound, transferred }

    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationappleidprovider/credentialrevokednotification
    public static let credentialRevokedNotification = Notification.Name("stub.credentialRevoked")

    private static let states = Mutex<[String: CredentialState]>([:])

    public static func stubSet(_ user: String, _ state: CredentialState?) {
        states.withLock { $0[user] = state }
    }

    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationappleidprovider/createrequest()
    public func createRequest() -> ASAuthorizationAppleIDRequest { ASAuthorizationAppleIDRequest() }

    /// Returns the state of a user. For a user without a state it returns an error, with the state
    /// that Apple's function passes then.
    ///
    /// https://developer.apple.com/documentation/authenticationservices/
    /// asauthorizationappleidprovider/getcredentialstate(foruserid:completion:)
    public func getCredentialState(
        forUserID userID: String,
        completion: @escaping @Sendable (CredentialState, (any Error)?) -> Void
    ) {
        let state = Self.states.withLock { $0[userID] }
        completion(state ?? .notFound, state == nil ? ASAuthorizationError(.unknown) : nil)
    }
}
