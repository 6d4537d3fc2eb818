/**
 * Removes a job if it is a dead letter. In one step: an event that a redelivery has just re-armed is not removed,
 * which BullMQ's own `remove` would do to any job that no worker holds.
 *
 * KEYS: the failed jobs, the job, its log, the events of the queue. ARGV: the id of the job.
 */
export const DISCARD = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('XADD', KEYS[4], '*', 'event', 'removed', 'jobId', ARGV[1], 'prev', 'failed')
return 1
`
