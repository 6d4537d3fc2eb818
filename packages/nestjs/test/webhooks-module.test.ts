import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { memoryInbox, type WebhookEvent } from '@ackhook/core'
import { type NestReceiver, receiverToken, WebhooksModule } from '@ackhook/nestjs'
import { testReceiver } from '@ackhook/testing'
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Scope,
  VersioningType,
} from '@nestjs/common'
import { REQUEST } from '@nestjs/core'
import { Test } from '@nestjs/testing'
import supertest from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { decorate, handlersOf, moduleOf, onWebhook, post, SECRET, start } from './nest-app.ts'

const forRoot = (options: object = {}) => WebhooksModule.forRoot({ secret: SECRET, ...options })

describe.each([{}, { rawBody: true }, { bodyParser: false }])('an app on Express with %j', options => {
  it('accepts genuine events of any size up to ours, once, and refuses forged ones', async () => {
    const { seen, Handlers } = handlersOf('conversation.resolved')
    const { url } = await start(
      { imports: [forRoot()], providers: [Handlers] },
      app => {
        if (options.bodyParser !== false) app.useBodyParser('json', { limit: '1kb' })
      },
      options,
    )
    const path = `${url}/webhooks`
    expect(await post(path)).toBe(202)
    expect(await post(path)).toBe(200)
    expect(await post(path, 'evt_2', { secret: 'whsec_of_somebody_else_0' })).toBe(401)
    expect(await post(`${path}/?a=1`, 'evt_3', { bytes: 900_000 })).toBe(202)
    expect(await post(`${path}/other`, 'evt_4')).toBe(404)
    await expect.poll(() => seen).toEqual(['conversation.resolved evt_1', 'conversation.resolved evt_3'])
  })
})

describe('the parts of the app', () => {
  const guarded: string[] = []
  class Guard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      guarded.push(context.getClass().name)
      return context.switchToHttp().getRequest().headers['x-service-signature'] !== undefined
    }
  }
  const prepare = (app: Parameters<NonNullable<Parameters<typeof start>[1]>>[0]) => {
    app.useGlobalGuards(new Guard())
    app.setGlobalPrefix('api')
    app.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' })
  }

  it('are skipped by default', async () => {
    const { Handlers } = handlersOf('*')
    const { url } = await start({ imports: [forRoot()], providers: [Handlers] }, prepare)
    guarded.length = 0
    expect(await post(`${url}/webhooks`)).toBe(202)
    expect(guarded).toEqual([])
  })

  it('are kept by choice', async () => {
    const { Handlers } = handlersOf('*')
    const keep = ['guards', 'prefix', 'versioning']
    const { url } = await start({ imports: [forRoot({ keep })], providers: [Handlers] }, prepare)
    expect(await post(`${url}/api/v2/webhooks`, 'evt_1', { bytes: 900_000 })).toBe(202)
    expect(guarded).toEqual(['WebhookRoute'])
    expect((await fetch(`${url}/api/v2/webhooks`, { method: 'POST' })).status).toBe(403)
    expect(await post(`${url}/webhooks`)).toBe(404)
  })

  it('keep their own routes for other methods, which otherwise get 405', async () => {
    class Own {
      list(): string {
        return 'a list'
      }
    }
    decorate(Own, 'list', Get())
    Controller('webhooks')(Own)
    const { Handlers } = handlersOf('*')
    const { url } = await start({ imports: [forRoot()], controllers: [Own], providers: [Handlers] })
    expect(await (await fetch(`${url}/webhooks`)).text()).toBe('a list')
    const other = await fetch(`${url}/webhooks`, { method: 'PUT' })
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

describe('handlers', () => {
  it('get types, lists, categories and everything, also in controllers and from base classes', async () => {
    const { seen, Handlers } = handlersOf('conversation.resolved', ['a.b', 'c.d'], 'conversation.*', '*')
    class Inherited extends Handlers {}
    Controller()(Inherited)
    const { url } = await start({ imports: [forRoot()], controllers: [Inherited] })
    await post(`${url}/webhooks`, 'evt_1')
    await post(`${url}/webhooks`, 'evt_2', { type: 'c.d' })
    await expect
      .poll(() => [...seen].sort())
      .toEqual(['* evt_1', '* evt_2', 'a.b,c.d evt_2', 'conversation.* evt_1', 'conversation.resolved evt_1'])
  })

  it('may be request-scoped: each attempt has its provider, with the event', async () => {
    const made: object[] = []
    const seen: unknown[] = []
    class Scoped {
      readonly invocation: { readonly event: WebhookEvent; readonly context: { readonly attempt: number } }
      constructor(invocation: never) {
        this.invocation = invocation
        made.push(this)
      }
      close(event: WebhookEvent): void {
        const { attempt } = this.invocation.context
        seen.push([event === this.invocation.event, attempt])
        if (attempt === 1) throw new Error('the first attempt fails')
      }
    }
    Injectable({ scope: Scope.REQUEST })(Scoped)
    Inject(REQUEST)(Scoped, undefined, 0)
    onWebhook(Scoped, 'close', 'conversation.resolved')
    const retry = { minDelay: '1ms' }
    const { url } = await start({ imports: [forRoot({ retry })], providers: [Scoped] })
    expect(await post(`${url}/webhooks`)).toBe(202)
    await expect
      .poll(() => seen)
      .toEqual([
        [true, 1],
        [true, 2],
      ])
    expect(made).toHaveLength(2)
  })

  it.each([
    ['a pattern that is none', 'conversation.*.x', {}, /on.*is not a pattern/],
    [
      'a misspelled type, with strict',
      'conversation.resolve',
      { strict: true },
      /did you mean 'conversation.resolved'/,
    ],
  ])('with %s are refused at start', async (_, type, options, message) => {
    const { Handlers } = handlersOf(type)
    await expect(start({ imports: [forRoot(options)], providers: [Handlers] })).rejects.toThrow(message)
  })

  it('of a receiver that no module has are refused at start', async () => {
    class Lost {
      close(): void {}
    }
    onWebhook(Lost, 'close', '*', { receiver: 'billing' })
    const starting = start({ imports: [forRoot()], providers: [Lost] })
    await expect(starting).rejects.toThrow(
      "Lost.close names the receiver 'billing', which no WebhooksModule has",
    )
  })
})

it('ends with 0 at SIGTERM once its handler has ended', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('app.mjs', import.meta.url))], {
    env: { ...process.env, SIGNING_SECRET: SECRET },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  await expect.poll(() => output).toMatch(/listening on (\S+)/)
  const url = /listening on (\S+)/.exec(output)?.[1] ?? ''
  expect(await post(`${url}/webhooks`)).toBe(202)
  await expect.poll(() => output).toContain('begins')
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(output).toMatch(/begins\n.*ends with the database open\n.*closes the database/s)
})

describe('several modules', () => {
  it('have their own paths, secrets and handlers', async () => {
    const seen: string[] = []
    class Both {
      first(event: WebhookEvent, { namespace }: { readonly namespace: string }): void {
        seen.push(`first ${namespace} ${event.id}`)
      }
      second(event: WebhookEvent): void {
        seen.push(`second ${event.id}`)
      }
    }
    onWebhook(Both, 'first', '*')
    onWebhook(Both, 'second', '*', { receiver: 'billing' })
    const secrets: Record<string, string> = { acme: 'whsec_of_the_workspace_acme' }
    const { url } = await start({
      imports: [
        WebhooksModule.forRoot({
          path: '/workspaces/:workspace/webhooks',
          secret: ({ params }) => secrets[params['workspace'] ?? ''] ?? null,
          namespace: ({ params }) => params['workspace'] ?? '',
        }),
        forRoot({ name: 'billing', path: '/billing' }),
      ],
      providers: [Both],
    })
    const secret = secrets['acme'] as string
    expect(await post(`${url}/workspaces/acme/webhooks`, 'evt_1', { secret })).toBe(202)
    expect(await post(`${url}/workspaces/other/webhooks`, 'evt_1', { secret })).toBe(401)
    expect(await post(`${url}/billing`, 'evt_2')).toBe(202)
    expect(await post(`${url}/billing`, 'evt_3', { secret })).toBe(401)
    await expect.poll(() => seen).toEqual(['first acme evt_1', 'second evt_2'])
  })

  it.each([
    ['one name', [forRoot(), forRoot({ path: '/b' })], /two modules are called 'default'/],
    ['one path', [forRoot(), forRoot({ name: 'b' })], /both have \/webhooks/],
  ])('with %s are refused at start', async (_, imports, message) => {
    await expect(start({ imports })).rejects.toThrow(message)
  })
})

it.each([
  [{ secret: undefined }, /Option 'secret'.*set the environment variable/],
  [{ tolerence: '5m' }, /did you mean 'tolerance'/],
  [{ path: 'webhooks' }, /Option 'path': must begin with a slash/],
  [{ keep: ['pipes'] }, /Option 'keep': cannot keep 'pipes'/],
  [{ keep: ['guard'] }, /did you mean 'guards'/],
  [{ keep: ['versioning'] }, /'versioning' needs enableVersioning/],
])('refuses %j at start', async (options, message) => {
  const { Handlers } = handlersOf('*')
  await expect(start({ imports: [forRoot(options)], providers: [Handlers] })).rejects.toThrow(message)
})

it('takes options and an inbox from other providers', async () => {
  class Settings {
    readonly secret: string = SECRET
    readonly inbox = memoryInbox()
  }
  const settings = moduleOf({ providers: [Settings], exports: [Settings] })
  const { Handlers, seen } = handlersOf('*')
  const { url } = await start({
    imports: [
      WebhooksModule.forRootAsync({
        imports: [settings],
        inject: [Settings],
        useFactory: async ({ secret, inbox }: Settings) => ({ secret, inbox }),
      }),
    ],
    providers: [Handlers],
  })
  expect(await post(`${url}/webhooks`)).toBe(202)
  await expect.poll(() => seen).toEqual(['* evt_1'])
})

it('logs to the app’s logger, and says that shutdown hooks are missing unless they are enabled', async () => {
  // Vitest's own listeners, if any, would do.
  const listeners = vi.spyOn(process, 'listenerCount')
  const { Handlers } = handlersOf('*')
  listeners.mockReturnValue(0)
  const missing = await start({ imports: [forRoot()], providers: [Handlers] })
  await post(`${missing.url}/webhooks`, 'evt_1', { secret: 'whsec_of_somebody_else_0' })
  await expect
    .poll(() => missing.lines)
    .toEqual(
      expect.arrayContaining([
        expect.stringContaining('Call app.enableShutdownHooks()'),
        expect.stringMatching(/^\[signature_mismatch\].*\{"status":401\}$/),
      ]),
    )
  listeners.mockReturnValue(1)
  const enabled = await start({ imports: [forRoot()], providers: [Handlers] })
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  expect(enabled.lines.filter(line => line.includes('enableShutdownHooks'))).toEqual([])
  listeners.mockRestore()
})

/** A promise, and what resolves it. */
function gate(): [opened: Promise<void>, open: () => void] {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  return [opened, open]
}

it('drains before any other module is destroyed', async () => {
  const order: string[] = []
  const [began, begin] = gate()
  const [released, release] = gate()
  class Database {
    onModuleDestroy(): void {
      order.push('database closed')
    }
  }
  class Handler {
    async close(): Promise<void> {
      begin()
      await released
      order.push('handled')
    }
  }
  onWebhook(Handler, 'close', '*')
  const { app, url } = await start({
    imports: [forRoot(), moduleOf({ providers: [Database] })],
    providers: [Handler],
  })
  expect(await post(`${url}/webhooks`)).toBe(202)
  await began
  const closed = app.close()
  await expect.poll(() => post(`${url}/webhooks`, 'evt_2')).toBe(503)
  release()
  await closed
  expect(order).toEqual(['handled', 'database closed'])
})

it('is tested with testReceiver, and over HTTP with supertest, in a testing module', async () => {
  const { Handlers, seen } = handlersOf('conversation.resolved')
  const testing = await Test.createTestingModule({ imports: [forRoot()], providers: [Handlers] }).compile()
  const { deliver } = testReceiver(testing.get<NestReceiver>(receiverToken()), { secret: SECRET })
  const app = testing.createNestApplication({ logger: false })
  await app.init()
  expect(await deliver('conversation.resolved', { id: 'evt_1' })).toMatchObject({ outcome: 'handled' })
  await supertest(app.getHttpServer()).post('/webhooks').send({ id: 'evt_2' }).expect(401)
  await app.close()
  expect(seen).toEqual(['conversation.resolved evt_1'])
})
