// Delivers events out of order, twice, to two processes, and with a failure half-way. Exit code 0: each took effect once, and
// no older state has replaced a newer one.
import { randomBytes } from 'node:crypto'
import { createEvent, testReceiver } from '@ackhook/testing'
import { eq } from 'drizzle-orm'
import { createApp } from './app.ts'
import { conversations, createTables, openDatabase } from './database.ts'

const secret = randomBytes(24).toString('hex')
const { db, close } = openDatabase(process.env.DATABASE_URL)
await createTables(db)

let failures = 0
let attempts = 0
const options = {
  secret,
  // Quiet, because the demo prints what matters.
  logger: { info() {}, warn() {}, error() {} },
  onResolved() {
    attempts++
    if (failures-- > 0) throw new Error('half-way')
  },
}
const apps = [createApp(db, options), createApp(db, options)]
const [one, other] = apps.map(({ hooks }) => testReceiver(hooks, { secret }))
if (one === undefined || other === undefined) throw new Error('two apps')

const first = createEvent('conversation.resolved', {
  created_at: '2026-11-21T10:00:00Z',
  data: { resolved_by: 'ai' },
})
const { conversation_id } = first.data
const resolved = (created_at: string, resolved_by: string) =>
  createEvent('conversation.resolved', { created_at, data: { conversation_id, resolved_by } })
const second = resolved('2026-11-21T10:05:00Z', 'agent')
const third = resolved('2026-11-21T10:10:00Z', 'supervisor')

async function check(what: string, holds: boolean | Promise<boolean>): Promise<void> {
  const isTrue = await holds
  if (!isTrue) process.exitCode = 1
  console.log(`   ${isTrue ? 'ok' : 'BROKEN'}: ${what}`)
}

async function stored(resolvedBy: string, resolutions: number): Promise<boolean> {
  const [row] = await db.select().from(conversations).where(eq(conversations.id, conversation_id))
  return row?.resolvedBy === resolvedBy && row.resolutions === resolutions
}

console.log('1. the newer event arrives first')
await one.deliverEvent(second)
await one.deliverEvent(first)
await check('the older one counts, and does not replace the state', stored('agent', 2))

console.log('2. the sender repeats an event, and another process gets it')
const { outcome } = await other.deliverEvent(second)
await check(`it is a ${outcome}, known by its id in the database`, outcome === 'duplicate')
await check('it did not run again', stored('agent', 2))

console.log('3. a handler fails after its writes')
failures = 1
attempts = 0
await one.deliverEvent(third)
await check(`after ${attempts} attempts, it has counted once`, stored('supervisor', 3))

for (const { hooks } of apps) await hooks.close()
await close()
