import TidemarkStore

/// The tables of the accounts, in a separate file. The list only grows: a released step is never
/// edited.
///
/// Times are in milliseconds since 1970. Only `validSince` and the times in `session` are in
/// seconds, because they are compared with the times in tokens.
enum AccountsSchema {
    static let migrations = [
        StoreMigration("accounts 1", sql: tables), StoreMigration("accounts 2", sql: phones),
        StoreMigration("accounts 3", sql: factors),
    ]

    private static let tables = """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: sessions name it
            project TEXT NOT NULL,
            localID TEXT NOT NULL,
            email TEXT,
            isEmailVerified INTEGER NOT NULL,
            displayName TEXT,
            photoURL TEXT,
            phoneNumber TEXT,
            passwordScheme TEXT,
            passwordSalt BLOB,
            passwordKey BLOB,
            passwordUpdatedAt INTEGER,
            customAttributes TEXT,
            isDisabled INTEGER NOT NULL,
            isCustom INTEGER NOT NULL,
            usesEmailLink INTEGER NOT NULL,
            createdAt INTEGER NOT NULL,
            lastLoginAt INTEGER,
            lastRefreshAt INTEGER,
            validSince INTEGER NOT NULL,
            initialEmail TEXT
        ) STRICT;
        CREATE UNIQUE INDEX accountByID ON account (project, localID);
        CREATE UNIQUE INDEX accountByEmail ON account (project, email) WHERE email IS NOT NULL;
        CREATE UNIQUE INDEX accountByPhone ON account (project, phoneNumber)
            WHERE phoneNumber IS NOT NULL;

        CREATE TABLE accountLink (
            project TEXT NOT NULL,
            providerID TEXT NOT NULL,
            rawID TEXT NOT NULL,
            account INTEGER NOT NULL,
            email TEXT,
            displayName TEXT,
            photoURL TEXT,
            screenName TEXT,
            federatedID TEXT,
            PRIMARY KEY (project, providerID, rawID)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX accountLinkByAccount ON accountLink (account, providerID);

        CREATE TABLE session (
            id BLOB PRIMARY KEY,
            account INTEGER NOT NULL,
            secret BLOB NOT NULL,      -- the digest of the token's, never the token
            previous BLOB NOT NULL,    -- of the one before, until the newer is used; empty for none
            provider TEXT NOT NULL,
            claims TEXT NOT NULL,
            createdAt INTEGER NOT NULL,
            usedAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessionByAccount ON session (account, usedAt);

        CREATE TABLE oneTimeCode (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            project TEXT NOT NULL,
            digest BLOB NOT NULL,
            code TEXT,                 -- only where tools may list them
            kind TEXT NOT NULL,
            email TEXT NOT NULL,
            newEmail TEXT,
            link TEXT,
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX oneTimeCodeByDigest ON oneTimeCode (project, digest);
        CREATE INDEX oneTimeCodeByEmail ON oneTimeCode (project, email, id);

        CREATE TABLE providerConfiguration (
            project TEXT NOT NULL,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            json TEXT NOT NULL,
            PRIMARY KEY (project, kind, id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE projectConfiguration (
            project TEXT PRIMARY KEY,
            json TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signingKey (
            id TEXT PRIMARY KEY,
            key BLOB NOT NULL,
            createdAt INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let phones = """
        ALTER TABLE session ADD COLUMN isRevoked INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE phoneCode (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            project TEXT NOT NULL,
            digest BLOB NOT NULL,      -- of the session's name, or of the proof
            session TEXT,              -- which tools list; NULL for a proof
            code TEXT,                 -- NULL for a proof
            phoneNumber TEXT NOT NULL,
            failures INTEGER NOT NULL, -- wrong codes so far
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX phoneCodeByDigest ON phoneCode (project, digest);
        CREATE INDEX phoneCodeByNumber ON phoneCode (project, phoneNumber, id);
        """

    private static let factors = """
        ALTER TABLE account ADD COLUMN secondFactors TEXT;  -- as JSON; NULL for none
        ALTER TABLE session ADD COLUMN secondFactor TEXT;   -- the id; NULL for none
        CREATE INDEX accountWithFactors ON account (project, localID)
            WHERE secondFactors IS NOT NULL;

        CREATE TABLE factorSession (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            project TEXT NOT NULL,
            digest BLOB NOT NULL,      -- of the session's name
            account INTEGER NOT NULL,
            secret TEXT,               -- of a new factor; NULL for a sign-in
            provider TEXT NOT NULL,    -- of the first factor; empty for a new factor
            failures INTEGER NOT NULL, -- wrong codes so far
            createdAt INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX factorSessionByDigest ON factorSession (project, digest);
        CREATE INDEX factorSessionByAccount ON factorSession (account, id);
        """
}
