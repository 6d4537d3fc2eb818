import type { SuiteCase } from '@ackhook/conformance/store'
import { printable } from '@ackhook/core/spi'
import type { Terminal } from '../terminal/terminal.ts'
import { createPaint, type Paint, wrap } from '../terminal/text.ts'
import type { LoadedSuite } from './load-suite.ts'
import type { CaseResult } from './run-cases.ts'

type NotRun = Pick<LoadedSuite, 'kind' | 'notRun'>

interface Report extends NotRun {
  readonly results: readonly CaseResult[]
  readonly stopped: boolean
}

interface CaseList extends NotRun {
  readonly cases: readonly SuiteCase[]
}

type Place = Pick<Terminal, 'colors' | 'columns'>

/** Formats failed cases and cases that were not run, with the reasons, and the counts. */
export function reportLines(report: Report, terminal: Place): readonly string[] {
  const { results, stopped, notRun } = report
  const paint = createPaint(terminal.colors)
  const failures = results.filter(({ error }) => error !== undefined)
  const passed = results.length - failures.length
  const seconds = (results.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(1)
  const skipped = notRun.reduce((sum, { ids }) => sum + ids.length, 0)
  const counts = [
    paint.good(`${passed} passed`),
    ...(failures.length > 0 ? [paint.bad(`${failures.length} failed`)] : []),
    ...(skipped > 0 ? [paint.warn(`${skipped} not run`)] : []),
  ]
  return [
    ...failures.flatMap(failure => failureLines(failure, paint, terminal)),
    ...notRunLines(report, paint, terminal),
    `${failures.length > 0 || stopped ? paint.bad('✗') : paint.good('✓')} ${counts.join(', ')} in ${seconds} s${stopped ? ', stopped before the end' : ''}`,
  ]
}

/** Lists each case with its requirements, and the cases that cannot be run. */
export function caseLines(list: CaseList, terminal: Place): readonly string[] {
  const paint = createPaint(terminal.colors)
  return [
    ...list.cases.flatMap(({ id, name, needs }) => [
      `${paint.bold(id)}${needs.length > 0 ? paint.dim(`  needs ${needs.join(', ')}`) : ''}`,
      wrap(name, '  ', terminal.columns),
    ]),
    ...notRunLines(list, paint, terminal),
  ]
}

function failureLines({ id, name, error }: CaseResult, paint: Paint, { columns }: Place): readonly string[] {
  return [
    `${paint.bad('✗')} ${paint.bold(id)}`,
    wrap(name, '  ', columns),
    ...reasonLines(error).map(line => wrap(printable(line), '    ', columns)),
  ]
}

/** Formats an error. A suite's own message is complete; an error from the tested code also gets a line of its stack. */
function reasonLines(error: Error | undefined): readonly string[] {
  if (error === undefined) return []
  const stack = (error.cause instanceof Error ? error.cause : error).stack ?? ''
  const where = /^ +at .*$/m.exec(stack)?.[0].trim()
  if (error.name === 'Error' && error.cause === undefined) return [error.message]
  const what = error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
  return where === undefined ? [what] : [what, where]
}

const WHY = {
  store: 'To run them, export these hooks from your module.',
  inbox: 'To run them, export these hooks from your module.',
  url: "They need the adapter's code: pass these hooks to adapterSuite from @ackhook/conformance/adapter in a test.",
} as const

function notRunLines({ kind, notRun }: NotRun, paint: Paint, { columns }: Place): readonly string[] {
  if (notRun.length === 0) return []
  return [
    ...notRun.flatMap(({ text, ids }) => [`${paint.warn('–')} ${text}`, wrap(ids.join(', '), '  ', columns)]),
    wrap(WHY[kind], '  ', columns),
  ]
}
