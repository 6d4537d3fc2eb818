import { sign } from '@ackhook/testing'

const WAIT_MS = 20_000
const DATA = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }

/** Checks output, time limits and contexts of the receivers in `behavior.mjs`, and returns the faults. */
export async function behaves(base, { secret, output, endsWithRequest }) {
  const deliver = async (name, id, by = secret) => {
    const created_at = new Date().toISOString()
    const body = JSON.stringify({ id, type: 'conversation.resolved', created_at, data: DATA })
    const headers = { 'x-service-signature': sign(body, { secret: by }) }
    const signal = AbortSignal.timeout(WAIT_MS)
    const reply = await fetch(`${base}/behavior/${name}?request=${id}`, {
      method: 'POST',
      headers,
      body,
      signal,
    })
    await reply.text()
    return reply.status
  }
  const wrong = []
  const expect = (what, actual, wanted) => {
    if (actual !== wanted) wrong.push(`${what}: ${actual} instead of ${wanted}`)
  }

  expect('a handler that throws', await deliver('logging', 'evt_throws'), 202)
  expect('its error in the output', await isSoon(() => output().includes('thrown on purpose')), true)
  expect('another secret', await deliver('logging', 'evt_forged', 'whsec_another_secret_of_32_bytes'), 401)
  expect('its reason in the output', await isSoon(() => /signature/i.test(output())), true)

  for (const [name, status] of [
    ['secret', 500],
    ['schema', 503],
  ]) {
    const answered = await deliver(name, 'evt_hangs').catch(error => `no reply (${error.name})`)
    expect(`a ${name} that hangs`, answered, status)
  }

  const ids = Array.from({ length: 5 }, (_, index) => `evt_context_${index}`)
  const contexts = async () => (await fetch(`${base}/behavior/contexts`)).json()
  // Workers refuse events that would have to wait, and end a request's work with the request.
  if (endsWithRequest) for (const id of ids) await isSoon(async () => (await deliver('context', id)) === 202)
  else await Promise.all(ids.map(id => deliver('context', id)))
  const allRan = async () => Object.keys(await contexts()).length === ids.length
  expect('all handlers ran', await isSoon(allRan), true)
  const found = await contexts()
  for (const id of ids) expect(`the context of ${id}`, found[id], endsWithRequest ? id : 'none')
  return wrong
}

async function isSoon(condition) {
  const deadline = performance.now() + WAIT_MS
  while (performance.now() < deadline) {
    if (await condition()) return true
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return false
}
