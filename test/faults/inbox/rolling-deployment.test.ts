import { describe } from 'vitest'
import { testOverflow } from './overflow.ts'
import { testRollingDeployments } from './rolling-deployment.ts'

/** Time limit: the short run mostly waits for processes to count as gone. */
const concurrent = process.env['FAULT_SCALE'] !== undefined
const options = { timeout: 900_000, concurrent }

describe('processes with different handlers under load on sqliteInbox', options, () => {
  testRollingDeployments(() => ({ mode: 'sqlite' }))
  testOverflow(() => ({ mode: 'sqlite' }))
})
