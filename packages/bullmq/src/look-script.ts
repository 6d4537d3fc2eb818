/**
 * The data of each job and whether it is a dead letter, in one step: a dead letter that is discarded between two
 * questions would look like an event that was handled.
 *
 * KEYS: the failed jobs, then the jobs. ARGV: the ids of the jobs.
 */
export const LOOK = `
local found = {}
for i, id in ipairs(ARGV) do
  found[i] = { redis.call('HGET', KEYS[i + 1], 'data'), redis.call('ZSCORE', KEYS[1], id) and 1 or 0 }
end
return found
`
