import Foundation
import Synchronization
import TidemarkModel
import TidemarkObjects
public import TidemarkRules
public import TidemarkServer

/// The security rules of objects: `service firebase.storage`.
public final class StorageRules: Sendable {
    private let server: FirestoreServer
    private let project: String
    private let errors: RulesSettings.Errors
    private let say: @Sendable (String) -> Void
    /// The rules by bucket; those of nil are for buckets without rules of their own.
    private let rules: Mutex<[String?: Ruleset]>

    /// - Parameters:
    ///   - server: The server of the documents that the rules read.
    ///   - project: The project of these documents.
    ///   - errors: Decides whether a refused caller is told the reason.
    ///   - say: Takes the reason of each refusal that the caller is not told.
    public init(
        _ server: FirestoreServer, project: String, errors: RulesSettings.Errors,
        say: @escaping @Sendable (String) -> Void
    ) {
        self.server = server
        self.project = project
        self.errors = errors
        self.say = say
        rules = Mutex([:])
    }

    /// Puts rules in force.
    ///
    /// - Parameter bucket: The bucket of the rules; nil for buckets without rules of their own.
    public func set(_ rules: Ruleset, for bucket: String? = nil) {
        self.rules.withLock { $0[bucket] = rules }
    }

    private func rules(of bucket: String) -> (rules: Ruleset?, areAny: Bool) {
        rules.withLock { ($0[.some(bucket)] ?? $0[.none], !$0.isEmpty) }
    }
}

extension StorageRules: ObjectJudge {
    func judge(_ access: ObjectAccess) async throws(ObjectRefusal) {
        let (found, areAny) = rules(of: access.bucket)
        // A server without rules allows everything, for files as for documents.
        guard areAny else { return }
        guard let rules = found else {
            throw refusal(access, "The bucket \(access.bucket) has no rules.")
        }
        if access.method == .list, rules.version < 2 {
            throw refusal(access, "Lists need rules_version = '2'.")
        }
        let judgement: StorageJudgement
        do throws(RPCStatus) {
            judgement = try StorageJudge(server).judge(
                access.request, under: rules, project: project)
        } catch { throw .unavailable(error.message) }
        if judgement.isAllowed { return }
        // A condition on a value that is unknown at the start of an upload is judged at its end.
        if access.isEarly, !judgement.isCertain { return }
        throw refusal(access, judgement.reason)
    }

    /// Returns production's sentence, and with explained errors the reason.
    private func refusal(_ access: ObjectAccess, _ reason: String) -> ObjectRefusal {
        let sentence = "Permission denied. Could not perform this operation"
        if errors == .explained { return .forbidden("\(sentence). \(reason)") }
        say("storage: \(access.method.rawValue) of \(access.bucket)/\(access.name): \(reason)")
        return .forbidden(sentence)
    }
}

extension ObjectAccess {
    /// The request as rules see it. Source: storage D.
    fileprivate var request: RulesRequest {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        // The prefix of a list ends with a slash, which is no segment.
        let segments =
            method == .list && parts.last?.isEmpty == true ? parts.dropLast() : parts[...]
        let path = RulesPath(["b", bucket, "o"] + segments)
        var request: [(key: String, value: RulesValue)] = [
            ("auth", caller.rulesValue), ("method", .string(method.rawValue)),
            ("path", .path(path)),
            (
                "time",
                .timestamp(Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)))
            ),
        ]
        request.append(
            ("resource", new.map { .map(.object($0, isNew: true, isEarly: isEarly)) } ?? .null))
        return RulesRequest(
            method.rulesMethod, at: path, request: RulesMap(request),
            resource: .value(
                present.map { .map(.object($0, isNew: false, isEarly: false)) } ?? .null))
    }
}

extension ObjectAccess.Method {
    fileprivate var rulesMethod: RulesMethod {
        switch self {
        case .get: .get
        case .list: .list
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }
}

extension ObjectCaller {
    fileprivate var rulesValue: RulesValue {
        guard let userID else { return .null }
        let json = claims.flatMap { try? JSONValue(Array($0.utf8)) }
        let claims = json.map { RulesValue($0) } ?? .null
        return .map(RulesMap([("uid", .string(userID)), ("token", claims)]))
    }
}

extension RulesMap {
    /// Returns an object as rules see it.
    ///
    /// - Parameters:
    ///   - isNew: True for the object after the request, which has no times and versions.
    ///   - isEarly: True if the bytes are not known yet.
    fileprivate static func object(
        _ object: StoredObject, isNew: Bool, isEarly: Bool
    ) -> RulesMap {
        let fields = object.fields
        let custom = fields.custom.inOrder.map {
            (key: $0.name, value: RulesValue.string($0.text))
        }
        var pairs: [(key: String, value: RulesValue)] = [
            ("name", .string(object.path.name)), ("bucket", .string(object.path.bucket)),
            ("size", .integer(object.contents.size)),
            ("contentType", .string(fields.contentType ?? ObjectJSON.defaultType)),
            ("contentEncoding", .string(fields.contentEncoding ?? "identity")),
            ("contentDisposition", .string(ObjectJSON.disposition(object))),
            ("metadata", .map(RulesMap(custom))),
        ]
        if let language = fields.contentLanguage {
            pairs.append(("contentLanguage", .string(language)))
        }
        if let cacheControl = fields.cacheControl {
            pairs.append(("cacheControl", .string(cacheControl)))
        }
        if let md5 = object.contents.md5 {
            pairs.append(("md5Hash", .string(Base64Form.text(of: md5))))
        }
        if !isEarly {
            pairs.append(("crc32c", .string(Base64Form.text(of: object.contents.crcBytes))))
        }
        if !isNew {
            pairs += [
                ("generation", .integer(object.version.generation)),
                ("metageneration", .integer(object.version.metageneration)),
                ("etag", .string(object.etag)),
                ("timeCreated", .timestamp(Timestamp(microseconds: object.createdAt))),
                ("updated", .timestamp(Timestamp(microseconds: object.updatedAt))),
            ]
        }
        return RulesMap(pairs)
    }
}
