import { until } from '../../lib/until.ts'
import { expectReply, whenHandled } from '../replies.ts'
import type { AdapterCase, AwaitedResponse } from '../target.ts'
import { exchange } from '../wire/connection.ts'
import { signedEvent } from '../wire/signed-event.ts'

/** Headers that an app sets before the handler: its own, and some that the reply sets as well. */
const KEPT = { 'x-request-id': 'adapter-suite', 'access-control-allow-origin': 'https://app.test' }
const REPLACED = { 'content-type': 'text/plain', 'content-length': '1' }

export const SUITE_HEADERS: Readonly<Record<string, string>> = { ...KEPT, ...REPLACED }

/** Replies to which the app adds headers. */
export const headerCases: readonly AdapterCase[] = [
  {
    id: 'adapter.headers.kept',
    name: 'headers that the app set before the handler are on the reply, and do not break it',
    async run(target) {
      const event = signedEvent(target)
      for (const code of ['accepted', 'duplicate']) {
        const reply = await exchange(target.url, event.request)
        expectReply(reply, code === 'accepted' ? 202 : 200, code)
        for (const [name, value] of Object.entries(KEPT)) {
          const got = reply.headers.get(name)
          if (got !== value) throw new Error(`expected ${name}: ${value}, got ${got}`)
        }
        await whenHandled(target, event)
      }
    },
  },
]

/** Cases about the handler's promise. `settled` lists the responses for which it has settled. */
export function promiseCases(settled: readonly AwaitedResponse[]): readonly AdapterCase[] {
  return [
    {
      id: 'adapter.promise.settles',
      name: "the handler's promise settles once the reply is written, for accepted and refused requests",
      async run(target) {
        for (const [request, status, code] of [
          [signedEvent(target).request, 202, 'accepted'],
          [{ body: '{}' }, 401, 'unauthorized'],
        ] as const) {
          const before = settled.length
          expectReply(await exchange(target.url, request), status, code)
          await until(() => settled.length > before, "the handler's promise settles")
          if (settled[before]?.writableFinished !== true) {
            throw new Error("the handler's promise settled before the reply was written")
          }
        }
      },
    },
  ]
}
