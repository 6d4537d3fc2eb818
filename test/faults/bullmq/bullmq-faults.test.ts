import { describe } from 'vitest'
import { bullmqFaults } from './bullmq-faults.ts'
import { POINTS } from './receiver-process.ts'

describe('bullmqInbox under faults', () => {
  const scale = Number(process.env['FAULT_SCALE'] ?? 1)
  bullmqFaults({ scale, engines: ['Redis, appendfsync always', 'PostgreSQL'], points: POINTS })
})
