/** `profile-verify.mjs <contender>`: sends profiles of a few seconds of verifying and parsing. */
import { eventBody } from './lib/event-body.mjs'
import { startProfile } from './lib/profiler.mjs'
import { createContenders } from './subjects/verify/contenders.mjs'

const contenders = await createContenders(eventBody(300).bytes, true)
const run = contenders.get(process.argv[2])
callFor(1000)
for (const kind of ['cpu', 'heap']) {
  const stop = await startProfile(kind)
  const count = callFor(3000)
  const profile = await stop()
  await new Promise(resolve => process.send({ profile, count }, resolve))
}
process.exit()

function callFor(ms) {
  let calls = 0
  for (const end = performance.now() + ms; performance.now() < end; calls += 1000) {
    for (let i = 0; i < 1000; i++) run()
  }
  return calls
}
