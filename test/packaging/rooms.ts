/**
 * The folders of a package's sources, and which others each may import. `.` is the top of `src`. Every room may
 * import itself.
 */
export type Rooms = Readonly<Record<string, readonly string[]>>

const GROUND = ['errors', 'lib']
const MIDDLE = [...GROUND, 'observe', 'platform', 'http', 'events']
const INBOX = [...MIDDLE, 'inbox']
const RECEIVER = [...INBOX, 'inbox/memory', 'verify', 'worker', 'receiver']

/** What every room of the SQLite storage builds on. */
const SQLITE = ['protocol', 'storage/driver', 'storage/schema']
const STORAGE = [...SQLITE, 'storage/leases', 'storage/rows']

/** What every command of the CLI may use. */
const SHARED = ['command', 'terminal', 'secrets']

export const ROOMS: Readonly<Record<string, Rooms>> = {
  core: {
    errors: [],
    lib: ['errors'],
    observe: GROUND,
    platform: [...GROUND, 'observe'],
    'platform/node': [...GROUND, 'observe', 'platform'],
    'platform/web': [...GROUND, 'observe', 'platform'],
    http: GROUND,
    events: [...GROUND, 'observe', 'platform'],
    verify: MIDDLE,
    inbox: MIDDLE,
    'inbox/memory': INBOX,
    worker: INBOX,
    receiver: RECEIVER,
    node: RECEIVER,
    fetch: RECEIVER,
    '.': [...RECEIVER, 'fetch'],
  },
  cli: {
    command: [],
    terminal: [],
    secrets: ['command', 'terminal'],
    delivery: ['command'],
    'doctor/evidence': ['delivery', 'secrets'],
    'doctor/checks': ['doctor/evidence'],
    'doctor/guesses': ['doctor/evidence'],
    doctor: ['delivery', 'secrets', 'doctor/evidence', 'doctor/checks', 'doctor/guesses'],
    send: SHARED,
    listen: [...SHARED, 'delivery', 'doctor'],
    replay: [...SHARED, 'delivery'],
    verify: [...SHARED, 'delivery', 'doctor'],
    inbox: ['command', 'terminal'],
    '.': [...SHARED, 'delivery', 'doctor', 'send', 'listen', 'replay', 'verify', 'inbox'],
  },
  sqlite: {
    protocol: [],
    'storage/driver': ['protocol'],
    'storage/schema': ['protocol', 'storage/driver'],
    'storage/leases': SQLITE,
    'storage/rows': [...SQLITE, 'storage/leases'],
    storage: STORAGE,
    engine: [...STORAGE, 'storage'],
    '.': ['protocol', 'storage/driver', 'engine'],
  },
  bullmq: {
    engine: [],
    redis: ['engine'],
    postgres: ['engine'],
    accepting: ['engine'],
    processing: ['engine'],
    '.': ['engine', 'redis', 'postgres', 'accepting', 'processing'],
  },
  opentelemetry: { '.': [] },
  redis: { '.': [] },
  testing: {
    lib: [],
    requests: ['lib'],
    sender: ['lib', 'requests'],
    receiver: ['requests'],
    // Each suite and its cases share one target and one set of expectations.
    'adapter-suite': ['lib', 'adapter-suite/cases', 'adapter-suite/wire'],
    'adapter-suite/cases': ['lib', 'requests', 'adapter-suite', 'adapter-suite/wire'],
    'adapter-suite/wire': ['requests', 'adapter-suite'],
    'inbox-suite': ['lib', 'inbox-suite/cases'],
    'inbox-suite/cases': ['lib', 'inbox-suite'],
    'store-suite': ['lib', 'store-suite/cases'],
    'store-suite/cases': ['store-suite'],
    '.': ['lib', 'requests', 'sender', 'receiver'],
  },
}
