import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typesOf } from '@ackhook/contract'
import { afterAll, expect, it } from 'vitest'
import { VARIED } from './recorded.ts'

// In this folder, so that the compiler finds the packages.
const folder = fileURLToPath(new URL('.compiled/', import.meta.url))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url))

function compile(files: Readonly<Record<string, string>>): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}${name}`, text)
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2023',
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  }
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return new Promise(resolve => {
    execFile(process.execPath, [TSC, '-p', folder], (_, stdout, stderr) => resolve(stdout + stderr))
  })
}

const handler = (receiver: string) => `import { createReceiver } from '@ackhook/core'
${receiver}
hooks.on('message.delivered', ({ data }) => {
  const id: string = data.message_id
  const code: number | undefined = data.error_code
  const name: string | null = data.to.name
  const sku: string | undefined = data.items[0]?.sku
  const label: number | undefined = data.labels['x']
  // @ts-expect-error
  data.mesage_id
  console.log(id, code, name, sku, label)
})
hooks.on('conversation.resolved', ({ data }) => console.log(data.channel))
`

it('the declarations compile, and type the handlers of every receiver', async () => {
  const use = handler("import './events.ts'\nconst hooks = createReceiver({ secret: '' })")
  const files = { 'events.ts': typesOf(VARIED), 'app.ts': use.replace("'./events.ts'", "'./events.js'") }
  expect(await compile(files)).toBe('')
})

it.each(['zod', 'valibot'] as const)('the schemas for %s compile, and accept what was recorded', async as => {
  const schemas = typesOf(VARIED, { as })
  const use = handler(
    "import { events } from './events.js'\nconst hooks = createReceiver({ secret: '', events })",
  )
  expect(await compile({ 'events.ts': schemas, 'app.ts': use })).toBe('')
  const file = `${folder}events.mjs`
  writeFileSync(file, schemas)
  const { events } = (await import(file)) as { events: Record<string, Validating> }
  for (const { event } of VARIED) {
    const { type, data } = event as { readonly type: string; readonly data: object }
    expect((await events[type]?.['~standard'].validate(data))?.issues).toBeUndefined()
  }
})

interface Validating {
  readonly '~standard': { validate(data: object): Promise<{ readonly issues?: unknown }> }
}
