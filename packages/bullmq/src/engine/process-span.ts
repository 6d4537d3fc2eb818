import type { AttemptResult } from '@ackhook/core/spi'
import { SpanKind, TelemetryAttributes, type Worker, type WorkerOptions } from 'bullmq'
import type { EventJob } from './event-job.ts'

/** The part of BullMQ's worker that does not depend on its backend. */
export interface TracingWorker extends Pick<Worker, 'trace' | 'name' | 'id'> {
  readonly opts: Pick<WorkerOptions, 'name' | 'telemetry'>
}

/**
 * Runs an attempt in BullMQ's span `process`, as BullMQ's own loop would: the trace of the job continues, and the record of the
 * end is a part of it. `run` resolves to the recorded end, if there is one.
 */
export async function inProcessSpan(
  worker: TracingWorker,
  job: EventJob,
  run: () => Promise<AttemptResult | undefined>,
): Promise<void> {
  const { id: workerId, name: queue, opts } = worker
  await worker.trace(
    SpanKind.CONSUMER,
    'process',
    queue,
    async span => {
      span?.setAttributes({
        [TelemetryAttributes.WorkerId]: workerId,
        [TelemetryAttributes.WorkerName]: opts.name,
        [TelemetryAttributes.JobId]: job.id,
        [TelemetryAttributes.JobName]: job.name,
      })
      const end = await run()
      if (end?.outcome === 'completed') span?.addEvent('job completed')
      if (end?.outcome === 'retry' || end?.outcome === 'dead')
        span?.addEvent('job failed', { [TelemetryAttributes.JobFailedReason]: job.failedReason })
      span?.setAttributes({
        [TelemetryAttributes.JobAttemptsMade]: job.attemptsMade,
        [TelemetryAttributes.JobAttemptFinishedTimestamp]: job.finishedOn ?? Date.now(),
        [TelemetryAttributes.JobProcessedTimestamp]: job.processedOn,
      })
    },
    job.opts.telemetry?.metadata,
  )
}
