import { describe } from 'vitest'
import { inFull } from '../../support/in-full.ts'
import { testOverflow } from './overflow.ts'
import { testRollingDeployments } from './rolling-deployment.ts'

describe('processes with different handlers under load on sqliteInbox', { timeout: 900_000 }, () => {
  testRollingDeployments(() => ({ mode: 'sqlite' }))
  // In the default run core's own tests hold the rule: this one waits until a killed process counts as gone.
  if (inFull(true, false)) testOverflow(() => ({ mode: 'sqlite' }))
})
