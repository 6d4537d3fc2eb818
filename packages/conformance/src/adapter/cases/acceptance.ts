import { expectAccepted, expectReply, whenHandled } from '../replies.ts'
import type { AdapterCase } from '../target.ts'
import { exchange, openConnection } from '../wire/connection.ts'
import { signedEvent } from '../wire/signed-event.ts'

/** Cases about genuine deliveries. */
export const acceptanceCases: readonly AdapterCase[] = [
  {
    id: 'adapter.accept.signed',
    name: 'a signed event gets 202 and is handled',
    async run(target) {
      const event = signedEvent(target)
      await expectAccepted(target, event)
      const handled = target.handled?.().find(({ id }) => id === event.id)
      if (handled !== undefined && handled.data['resolved_by'] !== 'ai')
        throw new Error("the handler did not receive the event's data")
    },
  },
  {
    id: 'adapter.accept.duplicate',
    name: 'a repeated delivery gets 200 and is not handled again',
    async run(target) {
      const event = signedEvent(target)
      await expectAccepted(target, event)
      expectReply(await exchange(target.url, event.request), 200, 'duplicate')
      const times = target.handled?.().filter(({ id }) => id === event.id).length ?? 1
      if (times !== 1) throw new Error(`it was handled ${times} times`)
    },
  },
  {
    id: 'adapter.accept.header-case',
    name: "the signature header's name may be in upper or lower case",
    async run(target) {
      const event = signedEvent(target)
      const headers = event.request.headers.map(([name, value]) => [name.toUpperCase(), value] as const)
      await expectAccepted(target, event, { headers })
    },
  },
  {
    id: 'adapter.accept.keep-alive',
    name: 'one connection carries one delivery after another',
    async run(target) {
      const connection = await openConnection(target.url)
      try {
        for (let i = 0; i < 5; i++) {
          expectReply(await connection.send(signedEvent(target).request), 202, 'accepted')
        }
      } finally {
        connection.socket.destroy()
      }
    },
  },
  {
    id: 'adapter.accept.concurrent',
    name: '100 concurrent deliveries are all accepted, and each is handled once',
    needs: ['open'],
    async run(target) {
      const events = Array.from({ length: 100 }, () => signedEvent(target))
      const replies = await Promise.all(events.map(({ request }) => exchange(target.url, request)))
      for (const reply of replies) expectReply(reply, 202, 'accepted')
      await Promise.all(events.map(event => whenHandled(target, event)))
      const ids = target.handled?.().map(event => event.id) ?? []
      if (new Set(ids).size !== ids.length) throw new Error('an event was handled twice')
    },
  },
]
