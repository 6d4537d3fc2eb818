import { expect, it } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'

const DAY_MS = 86_400_000
const [OLD, NEW] = ['whsec_old_0123456789abcdef', 'whsec_new_0123456789abcdef']

function rotating(secret: Parameters<typeof watch>[0] = { secret: [NEW, OLD] }) {
  let now = Date.now()
  let count = 0
  const { receiver, logger, seen } = watch({ tolerance: false, clock: () => now, ...secret })
  receiver.on('*', () => {})
  return {
    logger,
    seen,
    pass: (days: number) => (now += days * DAY_MS),
    send: (by: string) => receiver.handle(signedRequest(eventBody({ id: `evt_${++count}` }), { secret: by })),
  }
}

it('says once that another secret of the list matches, and when the first one last did', async () => {
  const { logger, seen, pass, send } = rotating()
  await send(OLD)
  expect(logger.lines).toEqual([])
  pass(0.5)
  await send(NEW)
  await send(NEW)
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { code: 'secret_matched', secret: 1 } }])
  expect(logger.lines[0]?.message).toContain('Secret 1 of 2 matched')
  expect(logger.lines[0]?.message).toContain('secret 2 was last used 12 hours ago')
  expect(seen.flatMap(one => (one.kind === 'secret_matched' ? [one.secret] : []))).toEqual([2, 1, 1])
})

it('says once that a secret can go: it has matched nothing for three days, while another has', async () => {
  const { logger, pass, send } = rotating()
  await send(OLD)
  for (let day = 0; day < 6; day++) {
    pass(1)
    await send(NEW)
  }
  const unused = logger.lines.filter(({ fields }) => fields['code'] === 'secret_unused')
  expect(unused.map(({ message }) => message)).toEqual([
    expect.stringContaining('Secret 2 of 2 has matched no delivery for 3 days'),
  ])
})

it('never names a secret, and says nothing of one that stands alone or of what is forged', async () => {
  const { logger, seen, pass, send } = rotating({ secret: OLD })
  await send(OLD)
  pass(10)
  await send(OLD)
  const list = rotating()
  await list.send('whsec_other_0123456789ab')
  await list.send(OLD)
  await list.send(NEW)
  expect(JSON.stringify([...list.logger.lines, ...list.seen])).not.toMatch(/whsec_/)
  expect(logger.lines).toEqual([])
  expect([...seen, ...list.seen].filter(({ kind }) => kind === 'secret_matched')).toHaveLength(2)
})

it('observes the secrets of many workspaces, and logs none of them', async () => {
  const { logger, seen, pass, send } = rotating({ secret: () => [NEW, OLD] })
  await send(OLD)
  pass(5)
  await send(NEW)
  expect(logger.lines).toEqual([])
  expect(seen.filter(({ kind }) => kind === 'secret_matched')).toHaveLength(2)
})
