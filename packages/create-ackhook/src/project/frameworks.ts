import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
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
    /** Statement that creates `hooks`. */
    readonly hooks: string
    /** Statements that create an app with a callable route, and close it after the test, even if it fails. */
    app(code: Code): string
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

/** Returns the parameter of `createApp`, the option that passes it on, and the import of its type. */
function inboxParts(code: Code, { inbox }: Choices) {
  const durable = DURABLE_INBOXES[inbox]
  return {
    parameter: durable === undefined ? '' : `inbox${code.typed('?: Inbox')}`,
    option: durable === undefined ? '' : ', inbox',
    typeImport: durable && code.typed("import type { Inbox } from '@ackhook/core'"),
    statement: durable?.statement,
    before: durable?.before ?? '',
    call: durable?.call ?? '',
  }
}

const appImport = (code: Code) => `import { createApp } from './app.${code.extension}'`

/** Express and Hono: the receiver is also the handler of the route. */
function appWithHooks(adapter: string, statements: string, route: string) {
  return (code: Code, choices: Choices) => {
    const { parameter, option, typeImport } = inboxParts(code, choices)
    return `${code.imports(`import { webhooks } from '${adapter}'`, statements, typeImport)}

/** The app without a port, so that a test can have one too. */
export function createApp(${parameter}) {
  const hooks = webhooks({ secret: process.env.SIGNING_SECRET, strict: true${option} })

  hooks.${HANDLER}

${route}
  return { app, hooks }
}
`
  }
}

function serverWithHooks(statement: string, listen: string) {
  return (code: Code, choices: Choices) => {
    const inbox = inboxParts(code, choices)
    return `${code.imports(SHUTDOWN, statement, inbox.statement, appImport(code))}

${PORT}
${inbox.before}const { app, hooks } = createApp(${inbox.call})
${inbox.call === '' ? '' : 'await hooks.start()\n'}
${listen}

gracefulShutdown(hooks, server)
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
      hooks: 'const { hooks } = createApp()',
      app: code => `const { app, hooks } = createApp()
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
      const { parameter, option, typeImport } = inboxParts(code, choices)
      return `${code.imports("import { webhooks } from '@ackhook/fastify'", "import fastify from 'fastify'", typeImport)}
${code.typed(STRICT_TYPES)}
/** The app without a port, so that a test can have one too. */
export async function createApp(${parameter}) {
  const app = fastify()

  await app.register(webhooks, { path: '/webhooks', secret: process.env.SIGNING_SECRET, strict: true${option} })

  app.webhooks.${HANDLER}

  return app
}
`
    },
    server(code, choices) {
      const inbox = inboxParts(code, choices)
      return `${code.imports(SHUTDOWN, inbox.statement, appImport(code))}

${PORT}
${inbox.before}const app = await createApp(${inbox.call})

await app.listen({ port })
${LISTENING}

gracefulShutdown(app.webhooks, app)
`
    },
    test: {
      hooks: 'const { webhooks: hooks } = await createApp()',
      app: () => `const app = await createApp()
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
      hooks: 'const { hooks } = createApp()',
      app: () => `const { app, hooks } = createApp()
  t.after(() => hooks.close())`,
      call: "app.request('/webhooks', ",
    },
  },
}
