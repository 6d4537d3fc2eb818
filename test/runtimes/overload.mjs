import { sign } from '@ackhook/testing'

const WAIT_MS = 20_000
/** Number of faults after which to stop. */
const MANY = 10
const AT_ONCE = 24
/** Longer than twice the handler timeout in `load.mjs`, including its allowance. */
const OUTLIVED_MS = 4_500

/**
 * Sends more events at once than the receivers handle at once, and returns the faults: each event must be handled, and
 * none may get stuck. `endsWithRequest`: handlers may be cut off with their request. Elsewhere they continue, and keep
 * their key for a retry.
 */
export async function overload(base, { secret, endsWithRequest = false }) {
  const wrong = []
  for (const name of ['immediately', 'after', 'lanes', 'lanesAfter']) {
    const flood = Array.from({ length: AT_ONCE }, (_, i) => ({
      id: `${name}_${i}`,
      ms: 50,
      lane: `l${i % 2}`,
    }))
    await Promise.all(flood.map(one => deliver(`${base}/load/${name}`, one)))
    const single = Array.from({ length: 6 }, (_, i) => ({ id: `${name}_single_${i}`, ms: 5, lane: 'l0' }))
    for (const one of single) await deliver(`${base}/load/${name}`, one)
    await allHandled(name, [...flood, ...single])
  }
  for (const name of endsWithRequest ? ['immediately', 'lanes'] : []) {
    const orphans = Array.from({ length: AT_ONCE }, (_, i) => ({
      id: `${name}_orphan_${i}`,
      ms: 60_000,
      lane: 'o',
    }))
    await Promise.all(orphans.map(one => post(`${base}/load/${name}/orphan`, one)))
    await new Promise(resolve => setTimeout(resolve, OUTLIVED_MS))
    const later = Array.from({ length: 6 }, (_, i) => ({ id: `${name}_later_${i}`, ms: 5, lane: 'o' }))
    for (const one of later) await deliver(`${base}/load/${name}`, one)
    await allHandled(name, later)
  }
  return wrong

  /** Delivers like a sender: repeats until it gets 2xx. */
  async function deliver(url, one) {
    const giveUpAt = performance.now() + WAIT_MS
    for (;;) {
      const status = await post(url, one)
      if (status < 300) return
      if (status !== 503) wrong.push(`${one.id} got ${status}`)
      if (wrong.length > MANY) return
      if (performance.now() > giveUpAt) return void wrong.push(`${one.id} was refused for ${WAIT_MS} ms`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  async function post(url, { id, ...data }) {
    const body = JSON.stringify({ id, type: 'load.one', created_at: new Date().toISOString(), data })
    const headers = { 'x-service-signature': sign(body, { secret }) }
    try {
      const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5000) })
      await response.arrayBuffer()
      return response.status
    } catch (error) {
      return wrong.push(`${id} was not answered: ${error}`) && 503
    }
  }

  async function allHandled(name, events) {
    const giveUpAt = performance.now() + 5000
    for (;;) {
      const { counts, stats } = await (await fetch(`${base}/load/counts`)).json()
      const left = events.filter(({ id }) => counts[name][id] === undefined)
      if (left.length === 0) break
      if (performance.now() > giveUpAt) {
        wrong.push(
          `${name}: ${left.length} of ${events.length} never handled; ${JSON.stringify(stats[name])}`,
        )
        break
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
}
