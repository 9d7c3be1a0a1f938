// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/Auth
//
// The parts of FirebaseAuth 12 that `Examples/FirebaseAuth` uses, with accounts in memory.
public import Foundation

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Enums/AuthErrorCode
public enum AuthErrorCode: Int {
    case invalidCustomToken = 17000, customTokenMismatch = 17002, invalidCredential = 17004
    case userDisabled, operationNotAllowed, emailAlreadyInUse, invalidEmail, wrongPassword
    case tooManyRequests, userNotFound, accountExistsWithDifferentCredential
    case requiresRecentLogin = 17014, providerAlreadyLinked = 17015, invalidUserToken = 17017
    case networkError = 17020, userTokenExpired = 17021, invalidAPIKey = 17023, userMismatch
    case credentialAlreadyInUse, weakPassword
    case appNotAuthorized = 17028, missingEmail = 17034, quotaExceeded = 17052
    case adminRestrictedOperation = 17085, missingOrInvalidNonce = 17094
    case keychainError = 17995, internalError = 17999

    /// An error as FirebaseAuth throws it.
    public var stubError: NSError { NSError(domain: "FIRAuthErrorDomain", code: rawValue) }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Enums/AuthProviderID
public enum AuthProviderID: Equatable {
    case apple, google, custom(String)
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// AuthCredential
open class AuthCredential: NSObject {
    public let provider: String
    /// The identity that the credential proves, and the parts that were sent with it.
    public let stubParts: [String?]

    fileprivate init(_ provider: String, _ parts: [String?]) {
        self.provider = provider
        stubParts = parts
    }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// OAuthCredential
open class OAuthCredential: AuthCredential {}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// OAuthProvider
open class OAuthProvider: NSObject {
    public static func appleCredential(
        withIDToken idToken: String, rawNonce: String?, fullName: PersonNameComponents?
    ) -> OAuthCredential { OAuthCredential("apple.com", [idToken, rawNonce]) }

    public static func credential(
        providerID: AuthProviderID, idToken: String, rawNonce: String, accessToken: String? = nil
    ) -> OAuthCredential {
        guard case .custom(let name) = providerID else { fatalError("no other is used") }
        return OAuthCredential(name, [idToken, rawNonce])
    }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// AdditionalUserInfo
open class AdditionalUserInfo: NSObject {
    public let isNewUser: Bool
    fileprivate init(_ isNew: Bool) { isNewUser = isNew }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// AuthDataResult
open class AuthDataResult: NSObject {
    public let user: User
    public let additionalUserInfo: AdditionalUserInfo?

    fileprivate init(_ user: User, isNew: Bool) {
        self.user = user
        additionalUserInfo = AdditionalUserInfo(isNew)
    }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/
/// AuthTokenResult
open class AuthTokenResult: NSObject {
    public let authDate: Date
    public let issuedAtDate: Date

    fileprivate init(_ age: TimeInterval) {
        issuedAtDate = Date(timeIntervalSince1970: 1_700_000_000)
        authDate = issuedAtDate.addingTimeInterval(-age)
    }
}

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/User
open class User: NSObject {
    public let uid: String
    fileprivate let key: String
    fileprivate unowned let auth: Auth

    fileprivate init(_ uid: String, key: String, auth: Auth) {
        (self.uid, self.key, self.auth) = (uid, key, auth)
    }

    public func getIDToken(forcingRefresh forceRefresh: Bool = false) async throws -> String {
        try auth.stubCheck()
        return forceRefresh ? "\(uid) new" : "\(uid) old"
    }

    public func getIDTokenResult(
        forcingRefresh forceRefresh: Bool = false
    ) async throws -> AuthTokenResult {
        precondition(forceRefresh, "an old token has an old date")
        return AuthTokenResult(auth.stubAge)
    }

    public func reauthenticate(with credential: AuthCredential) async throws -> AuthDataResult {
        try auth.stubCheck()
        let key = "\(credential.provider) \(credential.stubParts[0] ?? "")"
        guard key == self.key else { throw AuthErrorCode.userMismatch.stubError }
        auth.stubAge = 0
        return AuthDataResult(self, isNew: false)
    }

    public func delete() async throws {
        try auth.stubCheck()
        auth.stubAccounts[key] = nil
        auth.set(nil)
    }
}

public typealias AuthStateDidChangeListenerHandle = any NSObjectProtocol

/// https://firebase.google.com/docs/reference/swift/firebaseauth/api/reference/Classes/Auth
// @unchecked: the tests call it from one task.
open class Auth: NSObject, @unchecked Sendable {
    private static let shared = Auth()
    public class func auth() -> Auth { shared }

    public private(set) var currentUser: User?
    /// The id of each account, by its address and password, or by its provider and token.
    public var stubAccounts: [String: String] = [:]
    /// The credentials that were received, in order.
    public private(set) var stubCredentials: [[String?]] = []
    public private(set) var stubRevoked: [String] = []
    public var stubAge: TimeInterval = 0
    /// The error of the next call; nil for none.
    public var stubFailure: AuthErrorCode?
    private var listeners: [ObjectIdentifier: (Auth, User?) -> Void] = [:]
    public var stubListeners: Int { listeners.count }

    public override init() {}

    fileprivate func stubCheck() throws {
        defer { stubFailure = nil }
        if let stubFailure { throw stubFailure.stubError }
    }

    fileprivate func set(_ user: User?) {
        currentUser = user
        for listener in listeners.values { listener(self, user) }
    }

    private func enter(_ key: String, creating: Bool) -> AuthDataResult? {
        let known = stubAccounts[key]
        guard let id = known ?? (creating ? "u\(stubAccounts.count + 1)" : nil) else { return nil }
        stubAccounts[key] = id
        let user = User(id, key: key, auth: self)
        set(user)
        return AuthDataResult(user, isNew: known == nil)
    }

    public func addStateDidChangeListener(
        _ listener: @escaping (Auth, User?) -> Void
    ) -> AuthStateDidChangeListenerHandle {
        let handle = NSObject()
        listeners[ObjectIdentifier(handle)] = listener
        listener(self, currentUser)
        return handle
    }

    public func removeStateDidChangeListener(_ handle: AuthStateDidChangeListenerHandle) {
        listeners[ObjectIdentifier(handle)] = nil
    }

    public func createUser(
        withEmail email: String, password: String
    ) async throws -> AuthDataResult {
        try stubCheck()
        if stubAccounts.keys.contains(where: { $0.hasPrefix("\(email) ") }) {
            throw AuthErrorCode.emailAlreadyInUse.stubError
        }
        return enter("\(email) \(password)", creating: true)!
    }

    public func signIn(withEmail email: String, password: String) async throws -> AuthDataResult {
        try stubCheck()
        guard let result = enter("\(email) \(password)", creating: false) else {
            throw AuthErrorCode.invalidCredential.stubError
        }
        return result
    }

    public func signIn(with credential: AuthCredential) async throws -> AuthDataResult {
        try stubCheck()
        stubCredentials.append([credential.provider] + credential.stubParts)
        return enter("\(credential.provider) \(credential.stubParts[0] ?? "")", creating: true)!
    }

    public func signIn(withCustomToken token: String) async throws -> AuthDataResult {
        try stubCheck()
        return enter("custom \(token)", creating: true)!
    }

    public func revokeToken(withAuthorizationCode authorizationCode: String) async throws {
        try stubCheck()
        stubRevoked.append(authorizationCode)
    }

    public func signOut() throws {
        try stubCheck()
        set(nil)
    }
}
