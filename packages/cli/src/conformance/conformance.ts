import type { SuiteCase } from '@ackhook/conformance/store'
import { nearest } from '@ackhook/core/spi'
import { EXIT } from '../command/exit-codes.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { ConformanceFlags } from './conformance-flags.ts'
import { caseLines, reportLines } from './describe.ts'
import { loadSuite } from './load-suite.ts'
import { runCases } from './run-cases.ts'

/** Runs or lists the cases for a store, an inbox or a running receiver. */
export async function conformance(flags: ConformanceFlags, terminal: Terminal): Promise<number> {
  const { kind, target, notRun, ...suite } = await loadSuite(flags, terminal)
  const cases = chosen(suite.cases, flags.case)
  if (flags.list) {
    const listed = cases.map(({ id, name, needs, timeLimitMs }) => ({ id, name, needs, timeLimitMs }))
    if (flags.json) terminal.out(JSON.stringify({ kind, target, cases: listed, notRun }))
    else for (const line of caseLines({ kind, cases, notRun }, terminal)) terminal.out(line)
    return EXIT.ok
  }
  const bar = terminal.progress(cases.length, `${cases.length} cases on ${target}`)
  const results = await runCases(cases, { onResult: () => bar.advance(), stop: terminal.stop })
  bar.stop()
  const failed = results.filter(({ error }) => error !== undefined).length
  const stopped = results.length < cases.length
  if (flags.json) {
    const counts = { passed: results.length - failed, failed, stopped }
    const reported = results.map(({ error, ...rest }) => ({
      ...rest,
      outcome: error === undefined ? 'passed' : 'failed',
      ...(error !== undefined && { reason: error.message }),
    }))
    terminal.out(JSON.stringify({ kind, target, ...counts, cases: reported, notRun }))
  } else {
    for (const line of reportLines({ kind, results, notRun, stopped }, terminal)) terminal.out(line)
  }
  return failed === 0 && !stopped ? EXIT.ok : EXIT.failed
}

function chosen(cases: readonly SuiteCase[], ids: readonly string[] | undefined): readonly SuiteCase[] {
  if (ids === undefined) return cases
  const known = cases.map(({ id }) => id)
  const unknown = ids.find(id => !known.includes(id))
  if (unknown === undefined) return cases.filter(({ id }) => ids.includes(id))
  const meant = nearest(unknown, known)
  throw new UsageError(
    `there is no case ${unknown}${meant === undefined ? '' : `; did you mean ${meant}?`}; --list prints them`,
  )
}
