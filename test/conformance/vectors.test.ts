import type { Observation } from '@ackhook/core'
import { describe, expect, it } from 'vitest'
import { exchange } from '../../packages/conformance/src/adapter/wire/connection.ts'
import { bodyOf } from '../vectors/body-of.mjs'
import { outcomeOf, type Vector, type VectorFile, vectorFiles } from '../vectors/vector-files.ts'
import { startServer } from './servers.ts'

const quiet = { info() {}, warn() {}, error() {} }

describe.each(Object.keys(startServer))('the vectors through %s', framework => {
  for (const file of vectorFiles) {
    it(file.about, { timeout: 120_000 }, async () => {
      const wrong: string[] = []
      for (const vector of file.vectors) wrong.push(...(await play(framework, file, vector)))
      expect(wrong).toEqual([])
    })
  }
})

/** Plays a vector against a fresh server, and returns the differences. */
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
    const got = `${reply.status} ${method === 'HEAD' ? request.code : JSON.parse(reply.body).code} ${outcomeOf(seen).reason}`
    const expected = `${request.status} ${request.code} ${request.reason}`
    if (got !== expected) wrong.push(`${id}: ${got} instead of ${expected}`)
  }
  await server.close()
  return wrong
}
