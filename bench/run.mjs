/**
 * `npm run bench` measures everything, `npm run bench -- verify http` only that. `--quick` takes fewer rounds,
 * `--preliminary` says in the results that the machine was busy. Writes RESULTS.md and docs/images/http.svg.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'

const SUBJECTS = ['verify', 'http', 'redis', 'durable', 'memory', 'scale']
const IMAGES = new URL('../docs/images/', import.meta.url)

const flags = process.argv.slice(2).filter(word => word.startsWith('--'))
const asked = process.argv.slice(2).filter(word => !word.startsWith('--'))
const unknown = [
  ...asked.filter(word => !SUBJECTS.includes(word)),
  ...flags.filter(flag => !['--quick', '--preliminary'].includes(flag)),
]
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(', ')}. Subjects: ${SUBJECTS.join(', ')}; flags: --quick, --preliminary\n`,
  )
  process.exit(1)
}

install()
const options = { quick: flags.includes('--quick'), preliminary: flags.includes('--preliminary') }
for (const subject of asked.length > 0 ? asked : SUBJECTS) {
  const began = performance.now()
  process.stdout.write(`${subject} …\n`)
  const result = await measure(subject)
  process.stdout.write(`${result}\n\n${subject} took ${Math.round((performance.now() - began) / 1000)} s\n\n`)
  const { writeResults } = await import('./lib/results.mjs')
  writeResults({ [subject]: result }, options)
}
// Clients and servers of the measured libraries may hold the process.
process.exit()

/** The peers have a package of their own, so that nobody installs them who does not measure. */
function install() {
  if (existsSync(new URL('node_modules', import.meta.url))) return
  execFileSync('npm', ['ci'], {
    cwd: new URL('.', import.meta.url),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

async function measure(subject) {
  const module = await import(`./subjects/${subject}.mjs`)
  const [measureSubject] = Object.values(module)
  const result = await measureSubject(options)
  if (typeof result === 'string') return result
  const { drawHttpChart } = await import('./lib/chart.mjs')
  mkdirSync(IMAGES, { recursive: true })
  writeFileSync(new URL('http.svg', IMAGES), drawHttpChart(result.chart))
  return result.markdown
}
