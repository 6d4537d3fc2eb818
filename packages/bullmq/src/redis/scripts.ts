/**
 * The data of each job and whether it is a dead letter, in one step: a dead letter that is discarded between two
 * questions would look like an event that was handled.
 *
 * KEYS: the failed jobs, then the jobs. ARGV: the ids of the jobs.
 */
export const LOOK_UP = `
local found = {}
for i, id in ipairs(ARGV) do
  found[i] = { redis.call('HGET', KEYS[i + 1], 'data'), redis.call('ZSCORE', KEYS[1], id) and 1 or 0 }
end
return found
`

/**
 * Moves a dead letter back to the waiting jobs, with fresh counts of attempts and stalls, and with the name and data
 * of a redelivery where there is one. In one step: between BullMQ's `updateData` and `retry`, a second delivery with
 * other bytes could overwrite those that were just acknowledged.
 *
 * Queue and job have no priority and no parent. The marker wakes a worker, which checks by itself whether the queue
 * is paused.
 *
 * KEYS: the failed jobs, the job, the waiting jobs, the marker, the events of the queue.
 * ARGV: the id of the job, the time since which it waits; its new name and data, or nothing more.
 */
export const REQUEUE = `
if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'timestamp', ARGV[2])
if ARGV[3] then redis.call('HSET', KEYS[2], 'name', ARGV[3], 'data', ARGV[4]) end
redis.call('HDEL', KEYS[2], 'finishedOn', 'processedOn', 'failedReason', 'atm', 'ats', 'stc')
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('ZADD', KEYS[4], 0, '0')
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 10000, '*', 'event', 'waiting', 'jobId', ARGV[1], 'prev', 'failed')
return 1
`

/**
 * Removes a job if it is a dead letter. In one step: BullMQ's own `remove` takes any job without a lock, so also one
 * that a redelivery has just requeued.
 *
 * KEYS: the failed jobs, the job, its log, the events of the queue. ARGV: the id of the job.
 */
export const DISCARD = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('XADD', KEYS[4], '*', 'event', 'removed', 'jobId', ARGV[1], 'prev', 'failed')
return 1
`
