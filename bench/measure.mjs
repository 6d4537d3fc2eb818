/** The process of one measurement: `measure.mjs <subject> <options as JSON>`. Stores its results unless it was quick. */
import { keepSection } from './lib/results.mjs'

const [subject, text] = process.argv.slice(2)
const options = JSON.parse(text)
const module = await import(`./subjects/${subject}.mjs`)
const measureSubject = Object.values(module).find(one => one.name.startsWith('measure'))
const result = await measureSubject(options)
process.stdout.write(`${result.markdown}\n`)
if (!options.quick) keepSection(subject, result, options)
// Clients of the measured libraries may keep the process alive.
process.exit()
