import { readFileSync, rmSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { exportedNames } from '../packaging/exported-names.ts'
import { filesUnder, ROOT, workspacePackages } from '../support/workspace-packages.ts'
import { compileFiles } from './compile-folder.ts'
import { ENTRY_POINTS, PARTS } from './entry-points.ts'

const folder = `${ROOT}test/docs/.examples`
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each(specifiers())('lists every name of $specifier as an entry point or a part', one => {
  const { specifier, names } = one
  const known = [...(ENTRY_POINTS[specifier] ?? []), ...(PARTS[specifier] ?? [])]
  expect(known.sort()).toEqual(names)
})

const cases = Object.entries(ENTRY_POINTS).flatMap(([specifier, names]) =>
  names.map(name => ({ specifier, name })),
)
it.each(cases)('has an example of $name from $specifier', ({ specifier, name }) => {
  expect(exampleOf(specifier, name)).toContain(name)
})

it('compiles each example inside a program', { timeout: 120_000 }, async () => {
  const files = cases.map(({ specifier, name }, index) => {
    const example = exampleOf(specifier, name)
    return [`${index}.${specifier.replaceAll(/\W/g, '-')}.${name}.ts`, inProgram(specifier, example)] as const
  })
  expect(await compileFiles(folder, new Map(files))).toBe('')
})

function specifiers(): readonly { specifier: string; names: readonly string[] }[] {
  return workspacePackages().flatMap(({ path, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
      if (typeof target !== 'object') return []
      const names = exportedNames(`${path}${target['ackhook-source']}`)
      const values = names.filter(name => !name.startsWith('type '))
      return [{ specifier: manifest.name + subpath.slice(1), names: values }]
    }),
  )
}

/**
 * Returns the example from the docstring in the package's sources; empty if there is none. Of two functions with one name, it
 * is the one in the entry point's own folder.
 */
function exampleOf(specifier: string, name: string): string {
  const { path, manifest } =
    workspacePackages().find(one => `${specifier}/`.startsWith(`${one.manifest.name}/`)) ?? {}
  const isOfAnother = (file: string) => {
    const own = `./${file.split('/', 1)[0]}`
    return own !== `.${specifier.slice(manifest?.name.length)}` && own in (manifest?.exports ?? {})
  }
  const files = filesUnder(`${path}src`).filter(one => /^[^.]+\.ts$/.test(one))
  for (const file of files.toSorted((a, b) => Number(isOfAnother(a)) - Number(isOfAnother(b)))) {
    const text = readFileSync(`${path}src/${file}`, 'utf8')
    const at = new RegExp(`^export (?:async )?(?:function|const|class) ${name}\\b`, 'm').exec(text)?.index
    if (at === undefined) continue
    const comment = text.slice(text.lastIndexOf('/**', at), at)
    const example = /@example\n([\s\S]*?)\*\//.exec(comment)?.[1] ?? ''
    if (example !== '') return example.replaceAll(/^ *\* ?/gm, '').trim()
  }
  return ''
}

/** Code that examples omit because readers have it: imports first, then declarations from the surrounding program. */
const AROUND: Readonly<Record<string, string>> = {
  writeFileSync: "import { writeFileSync } from 'node:fs'",
  createServer: "import { createServer } from 'node:http'",
  express: "import express from 'express'",
  Redis: "import { Redis } from 'ioredis'",
  test: "import { test } from 'vitest'",
  expect: "import { expect } from 'vitest'",
  redis: "declare const redis: import('ioredis').Redis",
  secret: 'declare const secret: string',
  url: 'declare const url: string',
  postgresInbox: "declare const postgresInbox: (pool: object) => import('@ackhook/core').Inbox",
  Pool: "import { Pool } from 'pg'",
  PoolClient: "import type { PoolClient } from 'pg'",
  HandlerContext: "import type { HandlerContext } from '@ackhook/core'",
  crm: 'declare const crm: { close(id: string, options?: object): Promise<void> }',
  body: 'declare const body: Uint8Array',
  bytes: 'declare const bytes: Uint8Array',
  knex: 'declare const knex: { raw(text: string): Promise<unknown> }',
  logger: "declare const logger: import('@ackhook/core').MessageFirstLogger",
  request: 'declare const request: Request',
  response: 'declare const response: Response',
  EventOf: "import type { EventOf } from '@ackhook/core'",
  ConfigService: 'declare class ConfigService { getOrThrow(name: string): string }',
  NestReceiver: "import type { NestReceiver } from '@ackhook/nestjs'",
  receiver: "declare const receiver: import('@ackhook/core').Receiver",
  hooks: "declare const hooks: import('@ackhook/express').ExpressWebhooks<import('@ackhook/core').EventMap>",
  events: "declare const events: import('@ackhook/core').WebhookEvent<string, object>[]",
  api: 'declare const api: { listEvents(query: object): AsyncIterable<object> }',
  sent: "declare const sent: import('@ackhook/core').WebhookEvent<string, object>",
  delivered: "declare const delivered: import('@ackhook/core').WebhookEvent<string, object>",
  read: "declare const read: import('@ackhook/core').WebhookEvent<string, object>",
  createHooks:
    "declare const createHooks: (messages: Map<string, string>, secret: string) => import('@ackhook/core').Receiver",
  AddressInfo: "import type { AddressInfo } from 'node:net'",
  WebhookEvent: "import type { WebhookEvent } from '@ackhook/core'",
}
const APPS: Readonly<Record<string, string>> = {
  '@ackhook/fastify': "declare const app: import('fastify').FastifyInstance",
  '@ackhook/dashboard': "declare const app: import('hono').Hono",
  '@ackhook/hono': "declare const app: import('hono').Hono",
  '@ackhook/nestjs': "declare const app: import('@nestjs/common').INestApplicationContext",
}

function inProgram(specifier: string, example: string): string {
  const app = APPS[specifier] ?? "declare const app: import('express').Express"
  const around = Object.entries({ ...AROUND, app }).filter(([name]) => uses(example, name))
  return [...around.map(([, line]) => line), ...importsFor(specifier, example), example].join('\n')
}

function uses(example: string, name: string): boolean {
  return new RegExp(`(?<![.\\w'])${name}\\b`).test(example) && !new RegExp(`const ${name}\\b`).test(example)
}

/** Returns imports of our names; `webhooks` comes from the example's own adapter, or from Express. */
function importsFor(specifier: string, example: string): readonly string[] {
  const first = [specifier, '@ackhook/express', '@ackhook/core']
  const rank = (one: string) => (first.includes(one) ? first.indexOf(one) : first.length)
  const all = specifiers().toSorted((a, b) => rank(a.specifier) - rank(b.specifier))
  const imported = new Map<string, string>()
  for (const one of all) {
    for (const name of one.names) {
      if (uses(example, name) && !imported.has(name)) imported.set(name, one.specifier)
    }
  }
  return [...imported].map(([name, from]) => `import { ${name} } from '${from}'`)
}
