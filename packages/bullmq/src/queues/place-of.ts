// A named import of `crc32` would fail on an old Node before core says which one it needs.
import zlib from 'node:zlib'

/**
 * Returns the queue of a job, one of `count`: the one with the greatest weight. Only jobs for which a new queue has the
 * greatest weight move to it.
 */
export function placeOf(jobId: string, count: number): number {
  const hash = zlib.crc32(jobId)
  let [place, greatest] = [0, -1]
  for (let index = 0; index < count; index++) {
    const weight = mixed(hash ^ Math.imul(index + 1, 0x9e3779b1))
    if (weight > greatest) [place, greatest] = [index, weight]
  }
  return place
}

/** Makes every bit of the number affect every bit of the result: MurmurHash3's last step. */
function mixed(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** Limit on queues: each costs two connections, and a query twice a second. */
export const MAX_QUEUES = 64
