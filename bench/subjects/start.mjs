import { meanInterval } from '../lib/interval.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'
import { measureColdStart } from './start/cold-start.mjs'

const CHILD = new URL('start/import-child.mjs', import.meta.url)

/** Measures the time that Ackhook adds to the start of a process and of a Worker. */
export async function measureStart({ quick }) {
  const importMs = await measureImport(quick ? 5 : 30)
  const cold = await measureColdStart(quick ? 5 : 60)
  return {
    markdown: [
      '## Start',
      "Milliseconds that Ackhook adds. The import: in a new process that has already imported Express. The cold start: from the start of workerd to the reply to the first delivery, compared with bare Hono, which ignores the request's content.",
      table(
        ['', 'added, ms', 'without', 'with'],
        [
          ['import of `@ackhook/express`', showRatio(importMs), '', ''],
          [
            'cold start of a Worker',
            showRatio(cold.differenceMs),
            showNumber(cold.bareMs),
            showNumber(cold.oursMs),
          ],
        ],
      ),
    ].join('\n\n'),
    figures: { importMs, coldStartMs: cold.differenceMs },
  }
}

async function measureImport(rounds) {
  const times = []
  for (let round = -2; round < rounds; round++) {
    const { ms } = await measureInProcess(CHILD)
    if (round >= 0) times.push(ms)
  }
  return meanInterval(times)
}
