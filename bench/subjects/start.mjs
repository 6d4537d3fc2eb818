import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { meanInterval } from '../lib/interval.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'
import { measureColdStart } from './start/cold-start.mjs'

const IMPORT_CHILD = new URL('start/import-child.mjs', import.meta.url)
const IDLE_CHILD = new URL('start/idle-child.mjs', import.meta.url)
const BARE = 'bare'
const OURS = 'ackhook'

/** Measures what Ackhook adds to the start of a process and of a Worker, and to an idle process. */
export async function measureStart({ quick }) {
  const importMs = await measureImport(quick ? 5 : 30)
  const cold = await measureColdStart(quick ? 5 : 60)
  const idle = await measureIdle(quick)
  return {
    markdown: [
      '## Start',
      'What Ackhook adds. The import: milliseconds, in a new process that has already imported Express. The cold start: milliseconds from the start of workerd to the reply to the first delivery, compared with bare Hono, which does not check the request. Idle: MB of resident memory of a process that serves a receiver by `@ackhook/core/node`, compared with one that serves a bare `node:http` handler, before the first request.',
      table(
        ['', 'added', 'without', 'with'],
        [
          ['import of `@ackhook/express`, ms', showRatio(importMs), '', ''],
          [
            'cold start of a Worker, ms',
            showRatio(cold.differenceMs),
            showNumber(cold.bareMs),
            showNumber(cold.oursMs),
          ],
          ['idle, MB', showRatio(idle.addedMb), showNumber(idle.bareMb), showNumber(idle.oursMb)],
        ],
      ),
    ].join('\n\n'),
    figures: { importMs, coldStartMs: cold.differenceMs, idleMb: idle.addedMb },
  }
}

async function measureImport(rounds) {
  const times = []
  for (let round = -2; round < rounds; round++) {
    const { ms } = await measureInProcess(IMPORT_CHILD)
    if (round >= 0) times.push(ms)
  }
  return meanInterval(times)
}

async function measureIdle(quick) {
  const found = await compareRounds(
    inTurns([BARE, OURS], name => measureInProcess(IDLE_CHILD, [name])),
    { quick, ...{ fewest: 10, most: 40, seconds: 60, within: 0.01 }, decides: [['mb', OURS, BARE]] },
  )
  const [bare, ours] = [BARE, OURS].map(name => found.valuesOf('mb', name))
  return {
    addedMb: meanInterval(ours.map((mb, round) => mb - bare[round])),
    bareMb: found.middleOf('mb', BARE),
    oursMb: found.middleOf('mb', OURS),
  }
}
