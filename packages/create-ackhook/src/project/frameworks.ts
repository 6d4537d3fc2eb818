import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
import { DATABASE, hasDatabase } from './database.ts'
import { DURABLE_INBOXES } from './inboxes.ts'

/** Code that depends on the framework: the code of its page in `docs/getting-started`, wrapped in a function for tests. */
export interface Framework {
  readonly packages: readonly string[]
  readonly types: readonly string[]
  /** Lines of a Dockerfile. */
  readonly image?: string
  /** `src/app`: the receiver with its handlers, and the route. */
  app(code: Code, choices: Choices): string
  /** `src/server`: the app on a port. */
  server(code: Code, choices: Choices): string
  readonly test: {
    readonly typeImport?: string
    /** Statement that creates `hooks`. `values`: the arguments of `createApp`. */
    hooks(values: string): string
    /** Statements that create an app with a callable route, and close it after the test, even if it fails. */
    app(code: Code, values: string): string
    /** Start of the call to the route, up to the request. */
    readonly call: string
  }
}

const HANDLER = `on('conversation.resolved', async event => {
    console.log(event.data.conversation_id, 'was resolved by', event.data.resolved_by)
  })`
/** The option `strict` for the compiler: Fastify's types do not know the options of a plugin. */
const STRICT_TYPES = `
declare module '@ackhook/fastify' {
  interface FastifyReceiverTypes {
    strict: true
  }
}
`
const LISTENING = 'console.log(`Listening on http://localhost:${port}/webhooks`)'
const PORT = 'const port = Number(process.env.PORT ?? 3000)'
const SHUTDOWN = "import { gracefulShutdown } from '@ackhook/core/node'"

/** Function that serves the probes: for Fetch and Fastify, or for Node's requests. */
type Probe = 'health' | 'nodeHealth'

/** Imports what a framework needs of `@ackhook/core`, in one statement. */
function coreImport(code: Code, hasInbox: boolean, probe: Probe): string {
  const type = hasInbox ? code.typed('type Inbox') : ''
  if (probe === 'nodeHealth') return type && "import type { Inbox } from '@ackhook/core'"
  return `import { ${['health', type].filter(Boolean).join(', ')} } from '@ackhook/core'`
}

/** Returns what the choices add to the code: the parameters of `createApp`, the options and the handler that use them, and their imports. */
function partsOf(code: Code, choices: Choices, probe: Probe = 'nodeHealth') {
  const inbox = DURABLE_INBOXES[choices.inbox]
  const database = hasDatabase(choices) ? DATABASE : undefined
  const list = (...parts: readonly (string | undefined | false)[]) => parts.filter(Boolean).join(', ')
  return {
    parameters: list(database && `db${code.typed(': Database')}`, inbox && `inbox${code.typed('?: Inbox')}`),
    options: inbox ? ', inbox' : database ? ', store: sqlStore(db)' : '',
    appImports: [coreImport(code, inbox !== undefined, probe), ...(database?.imports(code) ?? [])],
    effects: database === undefined ? '' : '  const { once } = sqlEffects(db)\n',
    handler: database?.handler ?? HANDLER,
    serverImports: [
      inbox?.statement,
      database && `import { openDatabase } from './database.${code.extension}'`,
    ],
    before: `${inbox?.before ?? ''}${database === undefined ? '' : 'const { db, close } = openDatabase(process.env.DATABASE_URL)\n'}`,
    values: list(database && 'db', inbox?.call),
    cleanup: database === undefined ? '' : ', { cleanup: close }',
  }
}

const appImport = (code: Code) => `import { createApp } from './app.${code.extension}'`

/** Express and Hono: the receiver is also the handler of the route. */
function appWithHooks(adapter: string, statements: readonly string[], probe: Probe, route: string) {
  return (code: Code, choices: Choices) => {
    const { parameters, options, appImports, effects, handler } = partsOf(code, choices, probe)
    return `${code.imports(`import { webhooks } from '${adapter}'`, ...statements, ...appImports)}

/** The app without a port, so that a test can have one too. */
export function createApp(${parameters}) {
${effects}  const hooks = webhooks({ secret: process.env.SIGNING_SECRET, strict: true${options} })

  hooks.${handler}

${route}
  return { app, hooks }
}
`
  }
}

function serverWithHooks(statement: string, listen: string) {
  return (code: Code, choices: Choices) => {
    const { serverImports, before, values, cleanup } = partsOf(code, choices)
    return `${code.imports(SHUTDOWN, statement, ...serverImports, appImport(code))}

${PORT}
${before}const { app, hooks } = createApp(${values})
${values === '' ? '' : 'await hooks.start()\n'}
${listen}

gracefulShutdown(hooks, server${cleanup})
`
  }
}

export const FRAMEWORKS: Readonly<Record<Choices['framework'], Framework>> = {
  express: {
    packages: ['@ackhook/core', '@ackhook/express', 'express'],
    types: ['@types/express'],
    app: appWithHooks(
      '@ackhook/express',
      ["import express from 'express'", "import { nodeHealth } from '@ackhook/core/node'"],
      'nodeHealth',
      `  const app = express()
  app.post('/webhooks', hooks) // above express.json(): the signature covers the exact bytes
  app.get('/health/:probe', nodeHealth(hooks)) // /health/live and /health/ready
  app.use(express.json())`,
    ),
    server: serverWithHooks(
      '',
      `const server = app.listen(port)
server.once('listening', () => ${LISTENING})`,
    ),
    test: {
      typeImport: "import type { AddressInfo } from 'node:net'",
      hooks: values => `const { hooks } = createApp(${values})`,
      app: (code, values) => `const { app, hooks } = createApp(${values})
  const server = app.listen(0)
  t.after(() => Promise.all([server.close(), hooks.close()]))
  const { port } = server.address()${code.typed(' as AddressInfo')}
  const url = \`http://localhost:\${port}/webhooks\``,
      call: 'fetch(url, ',
    },
  },
  fastify: {
    packages: ['@ackhook/core', '@ackhook/fastify', 'fastify'],
    types: [],
    // It listens on loopback otherwise, which nothing outside the container reaches.
    image: 'ENV HOST=0.0.0.0\n',
    app(code, choices) {
      const { parameters, options, appImports, effects, handler } = partsOf(code, choices, 'health')
      return `${code.imports("import { webhooks } from '@ackhook/fastify'", "import fastify from 'fastify'", ...appImports)}
${code.typed(STRICT_TYPES)}
/** The app without a port, so that a test can have one too. */
export async function createApp(${parameters}) {
${effects}  const app = fastify()

  await app.register(webhooks, { path: '/webhooks', secret: process.env.SIGNING_SECRET, strict: true${options} })

  app.webhooks.${handler}

  const probe = health(app.webhooks)
  app.get('/health/:probe', request => probe(request)) // /health/live and /health/ready

  return app
}
`
    },
    server(code, choices) {
      const { serverImports, before, values, cleanup } = partsOf(code, choices)
      return `${code.imports(SHUTDOWN, ...serverImports, appImport(code))}

${PORT}
const host = process.env.HOST ?? 'localhost'
${before}const app = await createApp(${values})

await app.listen({ port, host })
${LISTENING}

gracefulShutdown(app.webhooks, app${cleanup})
`
    },
    test: {
      hooks: values => `const { webhooks: hooks } = await createApp(${values})`,
      app: (_, values) => `const app = await createApp(${values})
  t.after(() => app.close())
  const url = \`\${await app.listen({ port: 0 })}/webhooks\``,
      call: 'fetch(url, ',
    },
  },
  hono: {
    packages: ['@ackhook/core', '@ackhook/hono', 'hono', '@hono/node-server'],
    types: [],
    app: appWithHooks(
      '@ackhook/hono',
      ["import { Hono } from 'hono'"],
      'health',
      `  const app = new Hono()
  app.post('/webhooks', hooks)
  const probe = health(hooks)
  app.get('/health/:probe', ({ req }) => probe(req.raw)) // /health/live and /health/ready`,
    ),
    server: serverWithHooks(
      "import { serve } from '@hono/node-server'",
      `const server = serve({ fetch: app.fetch, port })
server.once('listening', () => ${LISTENING})`,
    ),
    test: {
      hooks: values => `const { hooks } = createApp(${values})`,
      app: (_, values) => `const { app, hooks } = createApp(${values})
  t.after(() => hooks.close())`,
      call: "app.request('/webhooks', ",
    },
  },
}
