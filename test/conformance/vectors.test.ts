import { readdirSync, readFileSync } from 'node:fs'
import type { Observation, ReceiverOptions } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { exchange } from '../../packages/testing/src/adapter-suite/exchange.ts'
import { bodyOf } from '../vectors/body-of.mjs'
import { startServer } from './servers.ts'

interface VectorFile {
  readonly about: string
  readonly secret: string
  readonly now: number
  readonly vectors: readonly Vector[]
}

interface Vector {
  readonly id: string
  readonly options?: Partial<ReceiverOptions<Record<never, never>>>
  readonly requests: readonly VectorRequest[]
}

interface VectorRequest {
  readonly method: string
  readonly headers: [string, string][]
  readonly body: string | readonly { base64: string; times: number }[]
  readonly status: number
  readonly code: string
  readonly reason: string
}

const folder = new URL('../vectors/', import.meta.url)
const files = readdirSync(folder)
  .filter(name => name.endsWith('.json'))
  .map(name => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as VectorFile)
const quiet = { info() {}, warn() {}, error() {} }

describe.each(Object.keys(startServer))('the vectors through %s', framework => {
  for (const file of files) {
    it(file.about, { timeout: 120_000 }, async () => {
      const wrong: string[] = []
      for (const vector of file.vectors) wrong.push(...(await play(framework, file, vector)))
      expect(wrong).toEqual([])
    })
  }
})

/** A fresh server for each vector. Answers what was not as it should be. */
async function play(
  framework: string,
  file: VectorFile,
  { id, options, requests }: Vector,
): Promise<string[]> {
  const seen: Observation[] = []
  const receiverOptions = { secret: file.secret, clock: () => file.now, logger: quiet, ...options }
  const observe = (observation: Observation) => void seen.push(observation)
  const server = await startServer[framework]!({ ...receiverOptions, observe }, () => {})
  const wrong: string[] = []
  for (const request of requests) {
    seen.length = 0
    const { method, headers, body } = request
    const reply = await exchange(`${server.base}/plain`, { method, headers, body: bodyOf({ body }) })
    const got = `${reply.status} ${method === 'HEAD' ? request.code : JSON.parse(reply.body).code} ${reasonOf(seen)}`
    const expected = `${request.status} ${request.code} ${request.reason}`
    if (got !== expected) wrong.push(`${id}: ${got} instead of ${expected}`)
  }
  await server.close()
  return wrong
}

function reasonOf(seen: readonly Observation[]): string {
  for (const observation of seen) {
    if (observation.kind === 'duplicate') return 'duplicate'
    if (observation.kind === 'rejected' || observation.kind === 'accepted') return observation.code
  }
  return 'nothing observed'
}
