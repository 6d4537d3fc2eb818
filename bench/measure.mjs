/** The process of one measurement: `measure.mjs <subject> <options as JSON>`. Stores its results unless it was quick. */
import { measuredCommit } from './lib/code.mjs'
import { keepSection } from './lib/results.mjs'

const [subject, text] = process.argv.slice(2)
const options = JSON.parse(text)
// Now: a commit may be checked out while it is measured.
const commit = measuredCommit()
const module = await import(`./subjects/${subject}.mjs`)
const measureSubject = Object.values(module).find(one => one.name.startsWith('measure'))
const result = await measureSubject(options)
process.stdout.write(`${result.markdown}\n`)
if (!options.quick) keepSection(subject, result, { ...options, commit })
// Clients of the measured libraries may keep the process alive.
process.exit()
