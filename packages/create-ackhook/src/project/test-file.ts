import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
import { hasDatabase } from './database.ts'
import { FRAMEWORKS } from './frameworks.ts'

/** Returns tests for Node's own runner: the handler by itself, and the route with a signed and a forged event. */
export function testFile(code: Code, choices: Choices): string {
  const { typeImport, hooks, app, call } = FRAMEWORKS[choices.framework].test
  const hasOwn = hasDatabase(choices)
  const values = hasOwn ? 'db' : ''
  const imports = code.imports(
    "import assert from 'node:assert/strict'",
    hasOwn ? "import { after, before, test } from 'node:test'" : "import { test } from 'node:test'",
    `import { createEvent, ${hasOwn ? 'everyOrder, ' : ''}signedRequest, testReceiver } from '@ackhook/testing'`,
    hasOwn ? "import { sql } from 'drizzle-orm'" : '',
    `import { createApp } from './app.${code.extension}'`,
    hasOwn ? `import { conversations, createTables, openDatabase } from './database.${code.extension}'` : '',
    typeImport && code.typed(typeImport),
  )
  return `${imports}

const secret = 'only-for-these-tests'
process.env.SIGNING_SECRET = secret
${hasOwn ? DATABASE_OF_TESTS : ''}
test('a resolved conversation is handled once', async t => {
  const log = t.mock.method(console, 'log', () => {})
  ${hooks(values)}
  const platform = testReceiver(hooks, { secret })
  const event = createEvent('conversation.resolved', { data: { conversation_id: 'cnv_7' } })

  assert.equal((await platform.deliverEvent(event)).outcome, 'handled')
  assert.equal((await platform.deliverEvent(event)).outcome, 'duplicate')
  assert.deepEqual(log.mock.calls.map(call => call.arguments[0]), ['cnv_7'])
})

test('the route accepts only events that the platform signed', async t => {
  ${app(code, values)}
  const event = createEvent('conversation.resolved')

  assert.equal((await ${call}signedRequest(event, { secret }))).status, 202)
  assert.equal((await ${call}signedRequest(event, { secret: 'a-forged-secret' }))).status, 401)
})
${hasOwn ? everyOrderTest(code, hooks(values)) : ''}`
}

const DATABASE_OF_TESTS = `
const { db, close } = openDatabase()
before(() => createTables(db))
after(close)
`

function everyOrderTest(code: Code, hooks: string): string {
  return `
test('the newest state stays, in whatever order events arrive, and when a handler runs again', async t => {
  t.mock.method(console, 'log', () => {})
  const resolved = (minute${code.typed(': number')}, resolved_by${code.typed(': string')}) =>
    createEvent('conversation.resolved', {
      created_at: \`2026-01-01T10:0\${minute}:00Z\`,
      data: { conversation_id: 'cnv_7', resolved_by },
    })
  const start = async () => {
    await db.execute(sql\`TRUNCATE conversations, ackhook_marks, ackhook_states, ackhook_ids\`)
    ${hooks}
    return { receiver: hooks, state: () => db.select().from(conversations) }
  }

  await everyOrder([resolved(0, 'ai'), resolved(5, 'agent')], start, { secret })
})
`
}
