/**
 * What takes a file from one version of the schema to the next; `ackhook_schema` counts them. A step that was
 * released is never changed: a new one follows.
 *
 * One row a remembered event, for as long as its id is remembered. `due` means by state: not before, or at once
 * (waiting), leased until (active), forgotten from (done), failed at (dead). So one index serves all of them.
 * `lapses`: how many attempts in a row ended with their process. `tellings`: how often `onDeadLetter` was to be told
 * of an event that was given up for that.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE ackhook_events (
     seq INTEGER PRIMARY KEY,
     key TEXT NOT NULL UNIQUE,
     state INTEGER NOT NULL,
     due INTEGER NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     token TEXT,
     fingerprint INTEGER NOT NULL,
     accepted_at INTEGER NOT NULL,
     received_at INTEGER NOT NULL,
     id TEXT NOT NULL,
     type TEXT NOT NULL,
     namespace TEXT NOT NULL,
     order_key TEXT,
     order_at INTEGER,
     reason TEXT,
     body BLOB
   ) STRICT;
   CREATE INDEX ackhook_events_due ON ackhook_events (state, due);
   CREATE INDEX ackhook_events_order ON ackhook_events (order_key, state, order_at)
     WHERE order_key IS NOT NULL;`,
  `ALTER TABLE ackhook_events ADD COLUMN lapses INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE ackhook_events ADD COLUMN tellings INTEGER NOT NULL DEFAULT 0;`,
]
