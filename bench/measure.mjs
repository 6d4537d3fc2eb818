/** The process of one measurement: `measure.mjs <subject> <options as JSON>`. Adds what it found to the results. */
import { keepSection } from './lib/results.mjs'

const [subject, options] = process.argv.slice(2)
const module = await import(`./subjects/${subject}.mjs`)
const measureSubject = Object.values(module).find(one => one.name.startsWith('measure'))
const result = await measureSubject(JSON.parse(options))
process.stdout.write(`${result.markdown}\n`)
keepSection(subject, result, JSON.parse(options))
// Clients of the measured libraries may hold the process.
process.exit()
