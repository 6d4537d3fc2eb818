import { describe } from 'vitest'
import { ALL_POINTS, bullmqFaults } from './bullmq-faults.ts'

describe('bullmqInbox under faults', () => {
  const scale = Number(process.env['FAULT_SCALE'] ?? 1)
  bullmqFaults({ scale, engines: ['Redis, appendfsync always', 'PostgreSQL'], points: ALL_POINTS })
})
