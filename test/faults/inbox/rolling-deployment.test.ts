import { describe } from 'vitest'
import { testRollingDeployments } from './rolling-deployment.ts'

describe('a rolling deployment under load on sqliteInbox', { timeout: 900_000 }, () => {
  testRollingDeployments(() => ({ mode: 'sqlite' }))
})
