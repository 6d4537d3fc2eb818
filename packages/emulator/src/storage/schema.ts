/**
 * The tables. Instants are milliseconds since the epoch. `deliveries` is narrow, so that pages are read fast with any
 * filter. Bytes are in `payloads`, and a contentless trigram index holds their text.
 */
export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (id TEXT PRIMARY KEY, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE endpoints (
  workspace TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  categories TEXT,
  types TEXT,
  paused INTEGER NOT NULL,
  warning TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  category TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  next_at INTEGER,
  running INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  attempts INTEGER NOT NULL,
  last_status INTEGER,
  last_code TEXT,
  last_error TEXT,
  last_duration_ms REAL,
  origin TEXT,
  message TEXT,
  reason TEXT,
  bytes INTEGER NOT NULL,
  draw TEXT NOT NULL,
  faults TEXT,
  headers TEXT,
  target TEXT,
  batch TEXT,
  arrival INTEGER,
  marks TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX deliveries_due ON deliveries (workspace, next_at, seq) WHERE state = 'pending' AND running = 0;
CREATE INDEX deliveries_elsewhere ON deliveries (workspace, next_at, seq)
  WHERE state = 'pending' AND running = 0 AND target IS NOT NULL;
CREATE INDEX deliveries_batch ON deliveries (batch, seq) WHERE batch IS NOT NULL;
CREATE INDEX deliveries_state ON deliveries (state, seq);
CREATE INDEX deliveries_type ON deliveries (type, state, seq);
CREATE INDEX deliveries_category ON deliveries (category, seq);
CREATE INDEX deliveries_status ON deliveries (last_status, seq);
CREATE INDEX deliveries_event ON deliveries (event_id, seq);
CREATE INDEX deliveries_message ON deliveries (message, seq) WHERE message IS NOT NULL;
CREATE INDEX deliveries_finished ON deliveries (seq) WHERE state NOT IN ('pending', 'undelivered');

CREATE TABLE payloads (seq INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

CREATE VIRTUAL TABLE delivery_text USING fts5 (
  body, content = '', contentless_delete = 1, tokenize = 'trigram'
);

CREATE TABLE attempts (
  seq INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  acknowledged INTEGER NOT NULL,
  status INTEGER,
  code TEXT,
  error TEXT,
  retry_after_ms REAL,
  faults TEXT NOT NULL,
  url TEXT NOT NULL,
  headers TEXT NOT NULL,
  body BLOB,
  reply_headers TEXT NOT NULL,
  reply_body BLOB NOT NULL,
  truncated INTEGER NOT NULL,
  PRIMARY KEY (seq, number)
) STRICT;

CREATE INDEX attempts_at ON attempts (at);

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace TEXT NOT NULL,
  direction TEXT NOT NULL,
  channel TEXT NOT NULL,
  number TEXT NOT NULL,
  template TEXT,
  content TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
`
