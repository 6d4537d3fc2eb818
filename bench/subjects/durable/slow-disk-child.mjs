/** `slow-disk-child.mjs <file>`: accepts events in a process with a slowed fsync, and prints its measurements. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { sqliteInbox } from '@ackhook/sqlite'
import { keepInFlight } from '../../lib/in-flight.mjs'
import { each } from '../../lib/rounds.mjs'
import { accepted, started } from './inbox.mjs'

const [file] = process.argv.slice(2)
const inbox = await started(sqliteInbox(file))
const samples = []
for (let round = 0; round < 6; round++) {
  samples.push(await keepInFlight(() => accepted(inbox), { inFlight: 64, ms: 500 }))
}
const [, ...own] = samples
const answer = {
  perSecond: each(own, 'perSecond'),
  p99Ms: each(own, 'p99Ms'),
  fsyncMs: fsyncMs(`${file}.fsync`),
}
process.stdout.write(JSON.stringify(answer))
await inbox.close(1000)
process.exit()

/** Measures a bare fsync, to prove that the delay is active. */
function fsyncMs(path) {
  const descriptor = openSync(path, 'w')
  const start = performance.now()
  for (let i = 0; i < 10; i++) {
    writeSync(descriptor, 'x')
    fsyncSync(descriptor)
  }
  closeSync(descriptor)
  return (performance.now() - start) / 10
}
