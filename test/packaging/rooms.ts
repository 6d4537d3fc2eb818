/**
 * Rooms: the folders of a package's sources, each with the others that it may import. `.` is the top of `src`. Every room
 * may import itself.
 */
export type Rooms = Readonly<Record<string, readonly string[]>>

const GROUND = ['errors', 'lib']
const MIDDLE = [...GROUND, 'observe', 'platform', 'http', 'events']
const INBOX = [...MIDDLE, 'inbox']
const RECEIVER = [...INBOX, 'inbox/memory', 'verify', 'worker', 'receiver']

/** Rooms that every room of the SQLite storage may import. */
const SQLITE = ['protocol', 'storage/driver', 'storage/schema']
const STORAGE = [...SQLITE, 'storage/leases', 'storage/rows']

/** Rooms that the emulator's deliveries may import. */
const EMULATOR = ['clock', 'endpoints', 'errors', 'events', 'lib', 'options', 'security', 'shapes', 'storage']
const OPERATIONS = [...EMULATOR, 'delivery', 'feed', 'messages']

/** Rooms that every CLI command may import. */
const SHARED = ['command', 'terminal', 'secrets']

export const ROOMS: Readonly<Record<string, Rooms>> = {
  core: {
    errors: [],
    lib: ['errors'],
    observe: GROUND,
    platform: [...GROUND, 'observe'],
    'platform/node': [...GROUND, 'observe', 'platform'],
    'platform/web': [...GROUND, 'observe', 'platform'],
    advice: GROUND,
    http: GROUND,
    events: [...GROUND, 'observe', 'platform', 'http'],
    verify: MIDDLE,
    inbox: MIDDLE,
    'inbox/leased': INBOX,
    'inbox/memory': [...INBOX, 'inbox/leased'],
    'inbox/sharing': INBOX,
    'inbox/push': [...INBOX, 'inbox/memory', 'inbox/leased'],
    worker: INBOX,
    receiver: RECEIVER,
    health: RECEIVER,
    reconcile: RECEIVER,
    privacy: RECEIVER,
    node: [...RECEIVER, 'health', 'platform/node'],
    fetch: RECEIVER,
    '.': [...RECEIVER, 'inbox/leased', 'inbox/sharing', 'inbox/push', 'fetch', 'health'],
  },
  cli: {
    terminal: [],
    command: ['terminal'],
    secrets: ['command', 'terminal'],
    delivery: ['command', 'terminal'],
    doctor: [...SHARED, 'delivery'],
    send: [...SHARED, 'delivery'],
    listen: [...SHARED, 'delivery', 'doctor'],
    inbox: ['command', 'terminal', 'delivery'],
    sql: ['command', 'terminal'],
    contract: ['command', 'terminal'],
    conformance: [...SHARED, 'delivery'],
    emulator: [...SHARED, 'delivery'],
    mcp: [...SHARED, 'inbox', 'emulator'],
    '.': [
      ...SHARED,
      'delivery',
      'doctor',
      'send',
      'listen',
      'inbox',
      'sql',
      'contract',
      'emulator',
      'conformance',
      'mcp',
    ],
  },
  contract: {
    shape: [],
    record: ['shape'],
    print: ['shape', 'record'],
    drift: ['shape', 'record'],
    '.': ['shape', 'record', 'print', 'drift'],
  },
  client: { '.': [] },
  mcp: { '.': [] },
  'create-ackhook': { project: [], command: ['project'], '.': ['command', 'project'] },
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
    retention: ['engine'],
    accepting: ['engine', 'retention'],
    processing: ['engine'],
    operating: ['engine', 'processing'],
    '.': ['engine', 'redis', 'postgres', 'retention', 'accepting', 'processing', 'operating'],
  },
  // `#page` is the output of `ui/`.
  dashboard: {
    protocol: [],
    security: [],
    letters: ['protocol'],
    activity: ['protocol'],
    verbs: ['protocol', 'letters', 'activity'],
    options: ['protocol', 'security', 'letters'],
    api: ['protocol', 'activity', 'options', 'letters', 'verbs'],
    mount: ['protocol', 'security', 'options', 'api'],
    '.': ['protocol', 'options', 'mount', 'letters', 'verbs'],
  },
  emulator: {
    errors: [],
    shapes: [],
    lib: ['errors', 'shapes'],
    batches: ['lib'],
    clock: [],
    feed: ['errors'],
    security: [],
    events: ['errors', 'lib', 'shapes'],
    storage: ['lib', 'shapes'],
    options: ['lib', 'security', 'shapes'],
    endpoints: ['clock', 'errors', 'lib', 'security', 'shapes', 'storage'],
    delivery: EMULATOR,
    messages: ['errors', 'lib', 'shapes', 'storage'],
    api: [...OPERATIONS, 'batches'],
    http: ['api', 'errors', 'feed', 'lib', 'messages', 'security', 'shapes'],
    '.': [...OPERATIONS, 'api', 'batches', 'http'],
  },
  cloudflare: { '.': [] },
  sqs: { '.': [] },
  nestjs: { '.': [] },
  opentelemetry: { '.': [] },
  redis: { '.': [] },
  sql: {
    database: [],
    schema: ['database'],
    store: ['database', 'schema'],
    effects: ['database', 'schema'],
    '.': ['database', 'schema', 'store', 'effects'],
  },
  // Each suite and its cases share one target.
  conformance: {
    lib: [],
    adapter: ['lib', 'adapter/cases', 'adapter/wire'],
    'adapter/cases': ['lib', 'adapter', 'adapter/wire'],
    'adapter/wire': ['adapter'],
    inbox: ['lib', 'inbox/cases', 'inbox/process'],
    'inbox/process': ['inbox'],
    'inbox/cases': ['lib', 'inbox'],
    store: ['lib', 'store/cases'],
    'store/cases': ['lib', 'store'],
    '.': ['lib'],
  },
  testing: {
    lib: [],
    requests: ['lib'],
    sender: ['lib', 'requests'],
    receiver: ['lib', 'requests'],
    '.': ['lib', 'requests', 'sender', 'receiver'],
  },
}
