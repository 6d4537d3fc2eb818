/** Where an error comes from. The same text or code may mean something else elsewhere. */
export type Source = 'network' | 'redis' | 'postgres' | 'sqlite' | 'sqs'

/** An error that a server or a runtime reports, and its fix. */
export interface Row {
  readonly source: Source
  /** The error's `code`, Redis' first word, SQLite's result code or the name of SQS's exception. */
  readonly codes?: readonly string[]
  /** For errors without a code of their own. */
  readonly message?: RegExp
  /** What the error means. */
  readonly cause: string
  readonly fix: string
}

const NETWORK: readonly Row[] = [
  row(
    'network',
    ['ECONNREFUSED'],
    'nothing listens at that address and port',
    'check that it runs, and the address and port',
  ),
  row('network', ['ENOTFOUND'], 'there is no host of that name', 'check its host name'),
  row(
    'network',
    ['EAI_AGAIN'],
    'the name server did not respond',
    'check its host name, and that this machine can resolve names',
  ),
  row(
    'network',
    ['ETIMEDOUT', 'ESOCKETTIMEDOUT'],
    'the address does not respond',
    'check the address, whether a firewall drops the packets, and that both sides use TLS or neither does',
  ),
  row(
    'network',
    ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN'],
    'there is no way to that address',
    'check the address, and the routes and firewalls on the way',
  ),
  row(
    'network',
    ['ECONNRESET', 'EPIPE', 'ECONNABORTED'],
    'the connection was closed by the server or on the way',
    "look into the server's log, and check that both sides use TLS or neither does",
  ),
  row(
    'network',
    ['EADDRNOTAVAIL'],
    'this machine has no free port for another connection',
    'look for connections that are opened and not reused',
  ),
  row(
    'network',
    ['EMFILE', 'ENFILE'],
    'too many files and connections are open',
    'raise the limit on open files, and look for connections that are never closed',
  ),
  row(
    'network',
    ['EACCES', 'EPERM'],
    'the system does not allow this process to connect',
    "check the firewall, or the permissions of the server's socket file",
  ),
  row(
    'network',
    [
      'EPROTO',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'ERR_SSL_PACKET_LENGTH_TOO_LONG',
      'ERR_SSL_UNEXPECTED_EOF_WHILE_READING',
    ],
    'the other side does not speak TLS at that port',
    'use TLS on both sides or on neither',
  ),
  row(
    'network',
    [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_UNTRUSTED',
    ],
    "the client does not trust the authority that signed the server's certificate",
    "give the client that authority's certificate, as `ca` in its TLS settings",
  ),
  row(
    'network',
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
    'the certificate is for another name',
    'connect by a name that the certificate lists, or set `servername` in the TLS settings',
  ),
  row(
    'network',
    ['CERT_HAS_EXPIRED'],
    "the server's certificate has expired",
    'renew the certificate, and check the clock of this machine',
  ),
  row(
    'network',
    ['CERT_NOT_YET_VALID'],
    "the server's certificate is not valid yet",
    'check the clocks of this machine and of the one that issued the certificate',
  ),
  row('network', ['CERT_REVOKED'], "the server's certificate was revoked", 'replace the certificate'),
  row(
    'network',
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
      'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    ],
    "the server does not accept the client's certificate, or wants one",
    'give the client a certificate that the server trusts, as `cert` and `key` in its TLS settings',
  ),
  row(
    'network',
    [
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      'ERR_SSL_UNSUPPORTED_PROTOCOL',
      'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
    ],
    'client and server have no TLS version in common',
    'allow a version on both sides that the other one supports',
  ),
  said(
    'network',
    /did not respond (?:in time|within)/,
    'no reply came in time',
    'check whether the server hangs, whether a firewall drops the packets, and that both sides use TLS or neither does',
  ),
]

const REDIS: readonly Row[] = [
  said(
    'redis',
    /^Connection is closed\.?$/,
    'the client is closed: by the application, or because its `retryStrategy` gave up',
    'create a client that stays open until the receiver has closed',
  ),
  row(
    'redis',
    ['NOAUTH'],
    'Redis wants a password',
    'set the right password, and the username if there is one',
  ),
  row(
    'redis',
    ['WRONGPASS'],
    'the password is not that of this user, or the user is disabled',
    'set the right password, and the username if there is one',
  ),
  said(
    'redis',
    /^ERR (?:invalid password|AUTH )/,
    'Redis does not accept the password',
    'set the right password, and the username if there is one',
  ),
  row(
    'redis',
    ['NOPERM'],
    'the ACL does not allow this user the command or the key',
    'use a user that may write the keys, and run the commands that the documentation lists',
  ),
  said(
    'redis',
    /can't run this command/,
    'the ACL does not allow this user the command',
    'use a user that may write the keys, and run the commands that the documentation lists',
  ),
  row(
    'redis',
    ['READONLY'],
    'this server is a replica',
    "use the primary's address, or a Sentinel or Cluster client that finds it",
  ),
  row('redis', ['LOADING'], 'Redis is loading its data', 'wait until the server is up, and try again'),
  row(
    'redis',
    ['MASTERDOWN'],
    'this replica has lost its primary, and serves nothing without it',
    "use the primary's address, or repair the replication",
  ),
  row(
    'redis',
    ['OOM'],
    'Redis has reached `maxmemory`',
    'give Redis more memory, or let workers handle the waiting events',
  ),
  row(
    'redis',
    ['MISCONF'],
    'Redis cannot save its data to disk, and takes no writes',
    "free disk space, or repair what Redis' log names",
  ),
  row(
    'redis',
    ['NOREPLICAS'],
    'fewer replicas are connected than `min-replicas-to-write`',
    'bring the replicas back, or lower that setting',
  ),
  row(
    'redis',
    ['CLUSTERDOWN'],
    'the cluster does not serve all slots',
    'bring the missing master back, or let a replica take over: `CLUSTER INFO` and `CLUSTER NODES` show which',
  ),
  row(
    'redis',
    ['MOVED', 'ASK'],
    'this server is part of a Redis Cluster',
    'use a Cluster client, such as new Cluster() of ioredis',
  ),
  row(
    'redis',
    ['CROSSSLOT'],
    "a command's keys are in several slots of the cluster",
    'give all keys one slot, with a prefix in braces such as {app}',
  ),
  row(
    'redis',
    ['TRYAGAIN'],
    'the cluster is moving these slots',
    'wait until the slots are moved, and try again',
  ),
  row(
    'redis',
    ['BUSY'],
    'Redis is running a slow script',
    'end it with `SCRIPT KILL`, and look for the application that runs it',
  ),
  row(
    'redis',
    ['WRONGTYPE'],
    'a key of this name holds something else',
    'use another prefix than the application that wrote it',
  ),
  row(
    'redis',
    ['DENIED'],
    'Redis is in protected mode, and the connection came from another machine',
    'set a password, or `bind` and `protected-mode` as Redis advises',
  ),
  said(
    'redis',
    /^ERR max number of clients/,
    'Redis has no connection left',
    'raise `maxclients`, or close some connections',
  ),
  said(
    'redis',
    /^Too many Cluster redirections/,
    'a master of the Redis Cluster does not respond at the address that the others name',
    'check that every master runs, and that this machine can reach the addresses in `CLUSTER NODES`',
  ),
  said(
    'redis',
    /^All sentinels are unreachable/,
    'no Sentinel responds',
    "check that the Sentinels run, their addresses and their password, and the master's name",
  ),
]

const POSTGRES: readonly Row[] = [
  row(
    'postgres',
    ['28P01'],
    'the password is wrong',
    'set the right password, and the username if there is one',
  ),
  row(
    'postgres',
    ['28000'],
    'this user may not log in from here',
    'set the right username, and check pg_hba.conf for this user, database and address',
  ),
  row('postgres', ['3D000'], 'there is no such database', 'create that database, or use one that exists'),
  row(
    'postgres',
    ['42501'],
    'the user lacks a privilege',
    'use a user that may write, or grant it what the message names',
  ),
  row(
    'postgres',
    ['42P01', '42883', '3F000'],
    'the tables or functions are not in the search_path, or do not exist',
    "create them, or put their schema into the user's search_path",
  ),
  row(
    'postgres',
    ['25006'],
    'the server is a standby, or the transaction is read-only',
    "use the primary's address, and a user that may write",
  ),
  row(
    'postgres',
    ['53300'],
    'PostgreSQL has no connection left',
    'raise `max_connections`, or close some connections',
  ),
  row('postgres', ['53100'], 'the disk is full', 'free disk space'),
  row('postgres', ['53200'], 'PostgreSQL has no memory left', 'give the server more memory'),
  row(
    'postgres',
    ['57P03'],
    'PostgreSQL is starting or stopping',
    'wait until the server is up, and try again',
  ),
  row(
    'postgres',
    ['57P01', '57P02'],
    'PostgreSQL is stopping, or ended this connection',
    'wait until the server is up, and try again',
  ),
  row(
    'postgres',
    ['57014'],
    'the query took too long, or somebody canceled it',
    'raise `statement_timeout` for the user, or find out why the server is slow',
  ),
  row(
    'postgres',
    ['55P03'],
    'another session holds a lock for too long',
    'find the session in pg_stat_activity that holds it',
  ),
  said(
    'postgres',
    /^The server does not support SSL connections/,
    'the server has no TLS',
    'use TLS on both sides or on neither',
  ),
  said(
    'postgres',
    /^Connection terminated unexpectedly/,
    'the server closed the connection',
    "look into the server's log",
  ),
]

const SQLITE: readonly Row[] = [
  row(
    'sqlite',
    ['BUSY'],
    'another process locks the file for longer than this one waits',
    'find the process that holds it',
  ),
  row(
    'sqlite',
    ['LOCKED'],
    'another statement of this process locks a table',
    'end the transaction that holds it',
  ),
  row(
    'sqlite',
    ['READONLY'],
    'this process may not write to the file or to its folder',
    'give it write access to both',
  ),
  row('sqlite', ['PERM'], 'this process may not open the file', 'give it access to the file'),
  row('sqlite', ['IOERR'], 'the disk failed to read or write', "look into the system's log"),
  row(
    'sqlite',
    ['CORRUPT'],
    'the file is damaged',
    'move it away with its -wal and -shm; then move a copy into its place, if you have one',
  ),
  row('sqlite', ['FULL'], 'the disk is full', 'free some space; no restart is needed'),
  row('sqlite', ['CANTOPEN'], 'the file cannot be opened', 'the folder must exist and be writable'),
  row('sqlite', ['NOTADB'], 'the file is not an SQLite database', 'name another file'),
]

const SQS: readonly Row[] = [
  said(
    'sqs',
    /^Request aborted$|^The operation was aborted due to timeout$/,
    'no reply came in time',
    'check whether this machine can reach SQS: its network, proxy and firewall',
  ),
  row(
    'sqs',
    ['QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue'],
    'SQS has no such queue',
    "check the queue's address, region and account",
  ),
  row(
    'sqs',
    ['AccessDenied', 'AccessDeniedException'],
    'the policy does not allow this',
    'allow the actions on this queue that the documentation lists',
  ),
  row(
    'sqs',
    ['InvalidClientTokenId', 'UnrecognizedClientException', 'InvalidAccessKeyId'],
    'AWS does not know the access key',
    'set a valid access key, or the right role',
  ),
  row(
    'sqs',
    ['SignatureDoesNotMatch', 'InvalidSignatureException'],
    'the secret key is wrong, or a clock is',
    'check the secret key, and the clock of this machine',
  ),
  row(
    'sqs',
    ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired'],
    'the credentials have expired',
    'let the client refresh them, and check the clock of this machine',
  ),
  row(
    'sqs',
    ['CredentialsProviderError'],
    'the client found no credentials',
    'give the client credentials, or this machine a role',
  ),
  row(
    'sqs',
    ['ThrottlingException', 'RequestThrottled', 'OverLimit'],
    'SQS limits the rate of requests',
    "wait and try again, or raise the account's limit",
  ),
  row(
    'sqs',
    ['KmsAccessDenied', 'KMS.AccessDeniedException'],
    "the policy does not allow the queue's encryption key",
    'allow kms:Decrypt and kms:GenerateDataKey on the key',
  ),
  said('sqs', /^Region is missing/, 'the client has no region', 'set `region` of the client, or AWS_REGION'),
]

export const ROWS: readonly Row[] = [...NETWORK, ...REDIS, ...POSTGRES, ...SQLITE, ...SQS]

function row(source: Source, codes: readonly string[], cause: string, fix: string): Row {
  return { source, codes, cause, fix }
}

function said(source: Source, message: RegExp, cause: string, fix: string): Row {
  return { source, message, cause, fix }
}
