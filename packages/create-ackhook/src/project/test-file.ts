import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
import { FRAMEWORKS } from './frameworks.ts'

/** Returns tests for Node's own runner: the handler by itself, and the route with a signed and a forged event. */
export function testFile(code: Code, { framework }: Choices): string {
  const { typeImport, hooks, app, call } = FRAMEWORKS[framework].test
  const imports = code.imports(
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    "import { createEvent, signedRequest, testReceiver } from '@ackhook/testing'",
    `import { createApp } from './app.${code.extension}'`,
    typeImport && code.typed(typeImport),
  )
  return `${imports}

const secret = 'only-for-these-tests'
process.env.SIGNING_SECRET = secret

test('a resolved conversation is handled once', async t => {
  const log = t.mock.method(console, 'log', () => {})
  ${hooks}
  const platform = testReceiver(hooks, { secret })
  const event = createEvent('conversation.resolved', { data: { conversation_id: 'cnv_7' } })

  assert.equal((await platform.deliverEvent(event)).outcome, 'handled')
  assert.equal((await platform.deliverEvent(event)).outcome, 'duplicate')
  assert.deepEqual(log.mock.calls.map(call => call.arguments[0]), ['cnv_7'])
})

test('the route accepts only events that the platform signed', async t => {
  ${app(code)}
  const event = createEvent('conversation.resolved')

  assert.equal((await ${call}signedRequest(event, { secret }))).status, 202)
  assert.equal((await ${call}signedRequest(event, { secret: 'a-forged-secret' }))).status, 401)
})
`
}
