import { describe } from 'vitest'
import { testOverflow } from './overflow.ts'
import { testRollingDeployments } from './rolling-deployment.ts'

describe('processes with different handlers under load on sqliteInbox', { timeout: 900_000 }, () => {
  testRollingDeployments(() => ({ mode: 'sqlite' }))
  testOverflow(() => ({ mode: 'sqlite' }))
})
