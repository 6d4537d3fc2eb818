import { type Inbox, memoryInbox } from '@ackhook/core'
import { expect, it } from 'vitest'
import { type DashboardOptions, dashboard } from '../src/index.ts'

function pagesOf(options: Partial<DashboardOptions>) {
  const pages = dashboard({ authorize: () => 'admin', ...options })
  return async ({ action, ...args }: { readonly action?: string; readonly type?: string } = {}) => {
    const body = action === undefined ? undefined : { ...(args.type === undefined && { all: true }), ...args }
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
      body: JSON.stringify(body),
    }
    const request = new Request(
      `http://app.test/ops/api/${body === undefined ? 'handling' : `verbs/${action}`}`,
      body === undefined ? {} : init,
    )
    const reply = await pages.fetch(request, undefined)
    return { status: reply.status, ...((await reply.json()) as object) }
  }
}

it('handling is paused and resumed by an admin only, and a pattern is refused', async () => {
  const inbox = memoryInbox()
  const call = pagesOf({ inbox })
  expect(await call({ action: 'pause', type: 'a.b' })).toMatchObject({
    status: 200,
    data: { changed: true, paused: [{ type: 'a.b' }] },
  })
  expect(await call({ action: 'pause' })).toMatchObject({
    data: { paused: [{ since: expect.stringMatching(/Z$/) }, { type: 'a.b' }] },
  })
  expect(await call()).toMatchObject({ paused: [{ since: expect.any(Number) }, { type: 'a.b' }] })
  expect(await call({ action: 'resume' })).toMatchObject({ status: 200, data: { paused: [] } })
  expect(await call({ action: 'pause', type: 'a.*' })).toMatchObject({ status: 400, error: 'invalid' })
  expect(await call({ action: 'stop' })).toMatchObject({ status: 404, error: 'not_found' })
  const reader = pagesOf({ inbox, authorize: () => 'read' })
  expect(await reader({ action: 'pause' })).toMatchObject({ status: 403, error: 'read_only' })
  expect(await reader()).toEqual({ status: 200, paused: [] })
})

it('an inbox that cannot pause, or not a single type, says why', async () => {
  const { handling, ...rest } = memoryInbox()
  const call = pagesOf({ inbox: { ...rest, cannotPause: 'the queue is another one' } as Inbox })
  expect(await call()).toEqual({ status: 200, paused: [], cannotPause: 'the queue is another one' })
  expect(await call({ action: 'pause' })).toMatchObject({
    ...{ status: 400, message: 'handling cannot be paused here: the queue is another one' },
  })
  const whole = { ...handling, cannotPauseTypes: 'only all' } as NonNullable<Inbox['handling']>
  const some = pagesOf({ inbox: { ...rest, handling: whole } as Inbox })
  expect(await some({ action: 'pause', type: 'a.b' })).toMatchObject({ status: 400 })
  expect(await some({ action: 'pause' })).toMatchObject({ status: 200 })
  expect(await some()).toMatchObject({ cannotPauseTypes: 'only all' })
})
