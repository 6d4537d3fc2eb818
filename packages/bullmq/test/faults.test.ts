import { describe } from 'vitest'
import { bullmqFaults } from '../../../test/faults/bullmq/bullmq-faults.ts'

describe('bullmqInbox under faults, with part of the load', () => {
  const scale = Number(process.env['FAULT_SCALE'] ?? 0.02)
  bullmqFaults({ scale, engines: ['Redis, appendfsync always'], points: ['mid-handler'] })
})
