import type { SuiteCase } from '@ackhook/conformance/store'
import { DOCS, nearest } from '@ackhook/core/spi'
import { Command } from 'commander'
import { EXIT } from '../command/exit-codes.ts'
import type { Finish } from '../command/finish.ts'
import {
  collect,
  parseCount,
  parsePath,
  parseUrl,
  withInsecure,
  withJson,
  withSecret,
} from '../command/shared-options.ts'
import { UsageError } from '../command/usage-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { caseLines, reportLines } from './describe.ts'
import { type ConformanceFlags, loadSuite } from './load-suite.ts'
import { runCases } from './run-cases.ts'

export function conformanceCommand(terminal: Terminal, finish: Finish): Command {
  const command = new Command('conformance')
    .description('Test a store, an inbox or a running receiver against the published cases')
    .option('--store <module>', 'a module that exports open, as in storeSuite({ open })', parsePath)
    .option('--inbox <module>', 'a module that exports open and capabilities, as in inboxSuite', parsePath)
    .option('--url <url>', 'address of a running receiver, such as http://localhost:3000/webhooks', parseUrl)
    .option('--body-limit <bytes>', "with --url: the receiver's body.limit (default: 1048576)", parseCount)
    .option('--case <id>', 'run only this case; may be repeated', collect)
    .option('--list', 'print the cases without running them')
    .addHelpText('after', HELP)
    .action(async (flags: ConformanceFlags) => finish(await conformance(flags, terminal)))
  return withJson(withInsecure(withSecret(command)))
}

const HELP = `
A module exports the options of its suite in @ackhook/conformance: open, and any of the other hooks. Cases whose hook
is missing are listed but not run. Connections that the module leaves open are cut at the end.
${DOCS}extending/writing-a-store.md has an example.

--url needs the receiver's signing secret. The receiver must acknowledge events at once and must not be in
production: its handlers get about 100 conversation.resolved events. Cases that need an adapter's code are not run.

Exit code 0 if every case that ran passed, 1 if one failed, 2 if the command could not start.

Examples:
  $ ackhook conformance --store ./store.js
  $ ackhook conformance --inbox ./inbox.js --json
  $ ackhook conformance --inbox ./inbox.js --case durable-retry
  $ ackhook conformance --store ./store.js --list
  $ SIGNING_SECRET=only-for-trying-it-out ackhook conformance --url http://localhost:3000/webhooks`

/** Runs or lists the cases for a store, an inbox or a running receiver. */
async function conformance(flags: ConformanceFlags, terminal: Terminal): Promise<number> {
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
