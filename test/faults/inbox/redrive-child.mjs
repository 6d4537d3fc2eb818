/** Redrives every dead letter in a file, a hundred at a time, until killed. Prints the running total. */
import { sqliteInbox } from '@ackhook/sqlite'

const inbox = sqliteInbox(process.argv[2])
let redriven = 0
for (;;) {
  const page = await inbox.browse({ state: 'dead', limit: 100 })
  if (page.length === 0) break
  redriven += (await inbox.deadLetters.redriveMany(page.map(({ key }) => key))).length
  process.stdout.write(`${redriven}\n`)
}
await inbox.close(1000)
