import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
import { DATABASE, hasDatabase } from './database.ts'
import { DURABLE_INBOXES } from './inboxes.ts'

/** Code that depends on the framework: the code of its page in `docs/getting-started`, wrapped in a function for tests. */
export interface Framework {
  readonly packages: readonly string[]
  readonly types: readonly string[]
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

/** Returns what the choices add to the code: the parameters of `createApp`, the options and the handler that use them, and their imports. */
function partsOf(code: Code, choices: Choices) {
  const inbox = DURABLE_INBOXES[choices.inbox]
  const database = hasDatabase(choices) ? DATABASE : undefined
  const list = (...parts: readonly (string | undefined | false)[]) => parts.filter(Boolean).join(', ')
  return {
    parameters: list(database && `db${code.typed(': Database')}`, inbox && `inbox${code.typed('?: Inbox')}`),
    options: inbox ? ', inbox' : database ? ', store: sqlStore(db)' : '',
    appImports: [
      inbox && code.typed("import type { Inbox } from '@ackhook/core'"),
      ...(database?.imports(code) ?? []),
    ],
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
function appWithHooks(adapter: string, statements: string, route: string) {
  return (code: Code, choices: Choices) => {
    const { parameters, options, appImports, effects, handler } = partsOf(code, choices)
    return `${code.imports(`import { webhooks } from '${adapter}'`, statements, ...appImports)}

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
      "import express from 'express'",
      `  const app = express()
  app.post('/webhooks', hooks) // above express.json(): the signature covers the exact bytes
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
    app(code, choices) {
      const { parameters, options, appImports, effects, handler } = partsOf(code, choices)
      return `${code.imports("import { webhooks } from '@ackhook/fastify'", "import fastify from 'fastify'", ...appImports)}
${code.typed(STRICT_TYPES)}
/** The app without a port, so that a test can have one too. */
export async function createApp(${parameters}) {
${effects}  const app = fastify()

  await app.register(webhooks, { path: '/webhooks', secret: process.env.SIGNING_SECRET, strict: true${options} })

  app.webhooks.${handler}

  return app
}
`
    },
    server(code, choices) {
      const { serverImports, before, values, cleanup } = partsOf(code, choices)
      return `${code.imports(SHUTDOWN, ...serverImports, appImport(code))}

${PORT}
${before}const app = await createApp(${values})

await app.listen({ port })
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
      "import { Hono } from 'hono'",
      `  const app = new Hono()
  app.post('/webhooks', hooks)`,
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
